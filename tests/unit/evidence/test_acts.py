import pytest

from lorelake.evidence.acts import acts_before, trigger


def edit(unit, path, text, call="e1"):
    return unit.call(call, tool="Edit", text=text, path=path, attributes={"cwd": "/home/a/shop"})


def spoken(unit, words):
    unit.add("prompt", words)
    return trigger(acts_before(unit.events, len(unit.events) - 1), words)


def test_words_about_an_edit_are_met_again_when_that_file_is_edited(unit):
    edit(unit, "/home/a/shop/app/payments/client.py", "retry the capture")
    unit.call("c1", tool="Bash", command="pytest tests/payments -q")
    assert spoken(unit, "Never retry a capture without a key.") == {
        "when": "editing `app/payments/client.py`",
        "applies_to": ["app/payments/client.py"],
    }


@pytest.mark.parametrize("tool", ["search_replace", "edit_file"])
def test_an_edit_in_cursor_is_one(unit, tool):
    unit.call("c1", tool=tool, text="+ await send_mail(guest)", path="app/bookings/pay.py")
    assert spoken(unit, "Never send mail inside the transaction.")["when"] == "editing `app/bookings/pay.py`"


def test_an_edit_of_the_code_comes_before_a_later_one_of_its_tests(unit):
    edit(unit, "/home/a/shop/app/cache.py", "advisory lock", call="e1")
    edit(unit, "/home/a/shop/tests/test_cache.py", "advisory lock", call="e2")
    assert spoken(unit, "Use an advisory lock.")["when"] == "editing `app/cache.py`"


def test_a_file_that_a_command_showed_is_worked_on(unit):
    unit.call("c1", tool="Bash", command="sed -n 40,62p app/payments/client.py")
    assert spoken(unit, "We will use one payments client.")["when"] == "working on `app/payments/client.py`"


@pytest.mark.parametrize("command", ["pytest tests/billing -q", "grep -rn billing app", "make check"])
def test_where_the_agent_stood_by_chance_is_no_trigger(unit, command):
    unit.call("c1", tool="Bash", command=command)
    assert spoken(unit, "Correct a billing run by hand.") == {}


def test_a_word_that_every_act_has_does_not_tie_them(unit):
    edit(unit, "/home/a/shop/tests/test_pdf.py", "def test_pdf")
    assert spoken(unit, "Retry every test twice.") == {}


def test_acts_before_the_persons_last_turn_do_not_count(unit):
    edit(unit, "/home/a/shop/app/cache.py", "lock")
    unit.add("prompt", "thanks")
    assert spoken(unit, "Use one lock.") == {}
