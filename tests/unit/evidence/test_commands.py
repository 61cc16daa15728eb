import pytest

from lorelake.evidence.commands import checks, directory, hides_end, looks_only, mends, same_command


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cd /srv/till && make  test 2>&1 | tail -5", "make test"),
        ('make test 2>&1 | grep -E "FAIL|ok"', "make test"),
        ("make test || true", "make test"),
        ("make test; echo done", "make test"),
        ('cd "/srv/my till" && make test | tee /tmp/out.txt', "make test"),
    ],
)
def test_a_folder_and_what_cuts_the_output_make_no_other_command(one, other):
    assert same_command(one) == same_command(other)


@pytest.mark.parametrize(
    "other", ["make lint", "make test WIDE=1", "make test | python count.py", "make test && make lint"]
)
def test_another_command_stays_another(other):
    assert same_command("make test") != same_command(other)


def test_the_folder_a_command_goes_to():
    assert directory("cd web && cd cart && make test") == "cart"
    assert directory('cd "my till"; make') == "my till"
    assert directory("make test") == ""


@pytest.mark.parametrize(
    "command",
    [
        "cat server.log | grep error", "git show HEAD --stat", "cd web && ls -la",
        "gh run view 17 --log-failed | tail -50", "kubectl logs till-1 | tail", "npm view till version",
        "sed -n 1,9p a.py", "node --version",
        "git -C web status", "command -v op", 'rg -n "make test" .',
    ],
)  # fmt: skip
def test_what_only_looks(command):
    assert looks_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "make test | grep FAIL",
        "cat a.txt && make test",
        "sed -i s/a/b/ x",
        "git merge main",
        "npm test",
        "env X=1 make",
    ],
)
def test_what_does_more_than_look(command):
    assert not looks_only(command)


@pytest.mark.parametrize(
    "command",
    [
        "uv sync",
        "sudo docker compose up -d db",
        "export X=1",
        "sed -i s/a/b/ x",
        "echo X=1 >> .env",
        "ls && npm install",
    ],
)
def test_what_mends(command):
    assert mends(command)


@pytest.mark.parametrize(
    "command",
    [
        "git add -A",
        "git commit -m 'add it'",
        "git push",
        "make test",
        "ls > /tmp/list",
        "grep -r install .",
        "echo 'npm install'",
    ],
)
def test_what_mends_nothing(command):
    assert not mends(command)


@pytest.mark.parametrize(
    "command",
    ["make test | tail", "make test || true", "make test; echo $?", "make serve &", "make test\ncat out.txt"],
)
def test_an_exit_code_that_is_not_the_checks_own(command):
    assert hides_end(command)


@pytest.mark.parametrize(
    "command",
    ["make test", "make lint && make test", "make lint || make fix", "grep 'a|b; c' x",
     "set -o pipefail; make test | tail", "make test 2>&1", "make test &> out.txt"],
)  # fmt: skip
def test_an_exit_code_that_is_its_own(command):
    assert not hides_end(command)


def test_a_check_is_known_by_what_it_runs_and_not_by_what_it_searches():
    assert checks("go test ./... | tail")
    assert not checks("grep -r test . | tail")
