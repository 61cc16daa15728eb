"""Pulls from the fake forges with the real client libraries, and a working day's worth of requests."""

from __future__ import annotations

import json

from fake_forge import MARKER, FakeGitHub, FakeGitLab, Mortal, documents, stamp

from lorelake.landing import forges
from lorelake.landing.forge_client import Client
from lorelake.landing.pull_github import GitHubForge, PyGithubTransport
from lorelake.landing.pull_gitlab import GitLabForge, PythonGitlabTransport


class _Pull:
    """Pulls into one folder; `slept` are the waits that were asked for, `told` what was said about them."""

    project = ""

    def __init__(self, hub, folder):
        self.hub, self.folder, self.slept, self.told = hub, folder, [], []

    def __call__(self, lives=None, page_size=100, project=None, **more):
        transport = self.transport()
        mortal = transport if lives is None else Mortal(transport, lives)
        client = Client(mortal, MARKER, self.slept.append, self.told.append, page_size)
        try:
            return forges.pull(self.forge(mortal, client), project or self.project, self.folder, **more)
        finally:
            transport.close()

    def transport(self):
        raise NotImplementedError

    def forge(self, transport, client):
        raise NotImplementedError

    def bookmarks(self):
        return json.loads((self.folder / "pull.json").read_text())["bookmarks"]


class PullGitHub(_Pull):
    project = FakeGitHub.repository

    def transport(self):
        return PyGithubTransport(MARKER, self.hub.url)

    def forge(self, transport, client):
        return GitHubForge(transport, client)

    def texts(self, number):
        return [one["body"] for one in documents(self.folder)[number]["issue_comments"]]


class PullGitLab(_Pull):
    project = FakeGitLab.project

    def transport(self):
        return PythonGitlabTransport(MARKER, self.hub.url)

    def forge(self, transport, client):
        return GitLabForge(client)

    def texts(self, number):
        threads = documents(self.folder)[number]["discussions"]
        return [note["body"] for thread in threads for note in thread["notes"]]


def busy_github(hub, count=4):
    """Some pull requests of a working day, each with what can hang on one."""
    for number in range(1, count + 1):
        hub.add(number)
        hub.tick()
        hub.comment(number, f"first words on {number}")
        hub.commit(number, f"{number:040x}")
        hub.remark(number, "Do not use floats for money.")
        hub.tick()
        hub.commit(number, f"{number + 500:040x}", "Use cents")
        hub.pulls[number]["reviews"].append(
            {"id": hub.id(), "user": hub.user("jonas"), "state": "APPROVED", "body": "", "submitted_at": stamp(hub.now)}
        )
        hub.pulls[number]["events"].append({"id": hub.id(), "event": "labeled", "created_at": stamp(hub.now)})
        hub.tick(5)


def busy_gitlab(lab, count=4):
    """The same of merge requests."""
    for number in range(1, count + 1):
        lab.add(number)
        lab.tick()
        lab.note(number, f"first words on {number}")
        lab.commit(number, f"{number:040x}")
        lab.note(number, "Do not draw what is not moored.", line=4)
        lab.tick()
        lab.commit(number, f"{number + 500:040x}")
        lab.requests[number]["resource_state_events"].append(
            {"id": lab.id(), "user": lab.user("jonas"), "created_at": stamp(lab.now), "state": "closed"}
        )
        lab.tick(5)
