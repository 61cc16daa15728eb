import json

import pytest

from lorelake.evidence.memory_calls import arguments, holds_memory, memory_calls, programs, tool_of


def asked(unit, command):
    return [(m.surface, m.verb, m.query) for m in memory_calls(unit.call("c", tool="Bash", command=command))]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("lorelake recall 'pool; size'", ("cli", "recall", "pool; size")),
        ("lorelake recall pool size --project shop --limit 5", ("cli", "recall", "pool size")),
        ("LORELAKE_HOME=/srv/lake /usr/bin/lorelake check --json 'x' 2>&1 | head -20", ("cli", "check", "x")),
        ("cd /repo && lorelake show lrn_abcdef123456", ("cli", "show", "lrn_abcdef123456")),
        ("cd /repo\nlorelake recall 'E1: boom\n at a.py' 2>/dev/null", ("cli", "recall", "E1: boom\n at a.py")),
        ('lorelake recall "which pool" ; echo "exit $?"', ("cli", "recall", "which pool")),
        ("lorelake recall 'what is `pool_size`'", ("cli", "recall", "what is `pool_size`")),
        ("uv run lorelake recall pool", ("cli", "recall", "pool")),
        ("timeout 20 .venv/bin/lorelake recall pool | sed -n '1,40p'", ("cli", "recall", "pool")),
        ("lorelake recall pool  # before the migration; as agreed", ("cli", "recall", "pool")),
        ("lorelake recall -- --dry-run does nothing", ("cli", "recall", "--dry-run does nothing")),
        ("teamai recall 'api timeout'", ("teamai", "recall", "api timeout")),
        ("npx -y teamai-cli recall --check 'api timeout'", ("teamai", "check", "api timeout")),
    ],
)
def test_a_line_that_asks_a_memory_and_nothing_else(unit, command, wanted):
    assert asked(unit, command) == [wanted]


def test_a_line_may_ask_twice(unit):
    assert asked(unit, "lorelake recall pool; lorelake check 'queue size'") == [
        ("cli", "recall", "pool"),
        ("cli", "check", "queue size"),
    ]


@pytest.mark.parametrize(
    "command",
    [
        "lorelake release list",
        "lorelake recall x; cat notes.md",
        "lorelake recall x\ncat notes.md",
        "lorelake recall a#b; cat notes.md",
        "lorelake recall x | cat - notes.md",
        "lorelake recall x | sed 's/a/b/'",
        "lorelake recall x | tee out.txt | xargs cat",
        "lorelake recall $(cat notes.md)",
        'lorelake recall "`cat notes.md`"',
        "lorelake recall x <(cat notes.md)",
        "lorelake recall x > out.txt",
        "lorelake recall - <<EOF\nx\nEOF",
        "lorelake recall $'\\'' ; cat notes.md '",
        "echo ';' lorelake recall x",
        "echo -e ';' '\\x3c!-- x' ; lorelake recall x",
        "echo '<!-- x -->' && lorelake recall x",
        'echo "$MARK" && lorelake recall x',
        "echo lorelake recall x",
        "lorelake recall 'unclosed",
        "lorelake show 'x\n<!-- y -->\n'",
        "./lorelake recall x",
        "/tmp/lorelake recall x",
        "PATH=/tmp/x:$PATH lorelake recall x",
        "alias lorelake='cat f'; lorelake recall x",
        "lorelake() { cat f; }; lorelake recall x",
        "python -c 'print(1)' && lorelake recall x",
        "lorelake-docs recall x",
        "mylorelake recall x",
        "teamai pull",
        "npx -y teamai-other recall x",
    ],
)
def test_a_line_through_which_anything_else_could_print_is_no_memory_call(unit, command):
    assert asked(unit, command) == []


def test_where_a_line_prints_more_than_memory_its_result_still_holds_memory(unit):
    both = unit.call("c", tool="Bash", command="lorelake recall x; cat notes.md")
    assert (memory_calls(both), holds_memory(both)) == ([], True)
    assert not holds_memory(unit.call("d", tool="Bash", command="cat notes.md"))


@pytest.mark.parametrize(
    ("tool", "wanted"),
    [
        ("mcp__lorelake__recall", "recall"),
        ("mcp__plugin_acme-tools_lorelake__check", "check"),
        ("lorelake.recall", "recall"),
        ("lorelake-show", "show"),
        ("mcp_lorelake_recall", "recall"),
        ("mcp__other__recall", ""),
        ("mcp__lorelake-wiki__recall", "wiki__recall"),
        ("mcp__notlorelake__recall", ""),
        ("mcp__github__lorelake_recall", ""),
        ("read_lorelake_recall", ""),
        (None, ""),
    ],
)
def test_a_tool_belongs_to_the_server_of_exactly_that_name(tool, wanted):
    assert tool_of("lorelake", tool) == wanted


def test_tools_of_our_server_and_of_gitmem_with_their_questions(unit):
    ours = unit.call("a", tool="mcp__lorelake__recall", text=json.dumps({"question": "pool size", "limit": 2}))
    theirs = unit.call("b", tool="mcp__gitmem__gitmem-r", text=json.dumps({"plan": "migrate the pool"}))
    said = unit.call("c", tool="mcp__gitmem__confirm_scars", text=json.dumps({"confirmations": []}))
    found = [(m.surface, m.verb, m.query) for call in (ours, theirs, said) for m in memory_calls(call)]
    assert found == [
        ("mcp", "recall", "pool size"),
        ("gitmem", "recall", "migrate the pool"),
        ("gitmem", "confirm_scars", None),
    ]
    assert memory_calls(unit.call("d", tool="mcp__lorelake__admin", text="{}")) == []
    assert memory_calls(unit.call("e", tool="mcp__gitmem__session_close", text="{}")) == []


def test_arguments_of_a_text_that_was_cut(unit):
    whole = {"confirmations": [{"id": 1}, {"id": 2}, {"id": 3}], "plan": "x"}
    text = json.dumps(whole)
    assert arguments(unit.call("a", tool="t", text=text)) == whole
    cut = text[: text.index('"id": 3')] + " [cut: 40 of 99 characters]"
    assert arguments(unit.call("b", tool="t", text=cut)) == {"confirmations": [{"id": 1}, {"id": 2}]}
    assert arguments(unit.call("c", tool="t", text='{"plan":"a b","note":"unfinis')) == {"plan": "a b"}
    assert arguments(unit.call("d", tool="t", text="no object")) == {}


@pytest.mark.parametrize("server", ["mcp__mem0__search_memories", "mcp__memory__read_graph", "memory.search_nodes"])
def test_what_another_memory_server_reads_out_is_memory_for_the_echo_gate_only(unit, server):
    call = unit.call("a", tool=server, text="{}")
    assert (memory_calls(call), holds_memory(call)) == ([], True)
    assert not holds_memory(unit.call("b", tool="mcp__mem0__add_memory", text="{}"))


def test_quoting_as_a_shell_reads_it():
    assert programs('a \'b c\' "d \\"e\\"" f\\ g h\'i\'"j" && k | l') == [
        ["a", "b c", 'd "e"', "f g", "hij"],
        ["k"],
        ["l"],
    ]
    assert programs("a \\\n  b # c\nd") == [["a", "b"], ["d"]]
    assert programs("a |& b") is None
