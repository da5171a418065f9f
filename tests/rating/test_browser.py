"""The page in Chromium: people's clicks and keys, reloads, what they download, and how it fits the screen."""

import csv
import time
from contextlib import contextmanager

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from small_kit import HOSTILE, IMAGES, naturalness_items

from seqcap.rating.aggregate import COLUMNS, aggregate
from seqcap.rating.page import write_page

QUESTIONS = 14
DESKTOP, SMALL_PHONE = (1280, 800), (360, 640)
# Seconds between two questions to the browser, each of which takes it some milliseconds.
POLL = 0.05


class Rater:
    """Someone who looks at the page, clicks and types."""

    def __init__(self, browser, kit, folder):
        self.browser, self.folder = browser, folder
        behaviour = {"behavior": "allow", "downloadPath": str(folder)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
        # Otherwise keys get lost while the window waits for its turn.
        browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.resize(*DESKTOP)
        browser.get(kit.page.as_uri())
        self.arrives()
        # Nothing of other tests is kept.
        browser.execute_async_script(
            "store.close(); indexedDB.deleteDatabase(store.name).onsuccess = () => arguments[0]()"
        )
        self.reload()

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def reload(self):
        self.browser.execute_script("window.left = true")
        self.browser.refresh()
        self.arrives()

    def arrives(self):
        """Waits until a page that was not left is there. On a busy machine the old one may still answer."""
        there = "return !window.left && document.readyState === 'complete' && SCREENS.some((id) => !element(id).hidden)"
        wait = WebDriverWait(self.browser, 10, POLL, ignored_exceptions=[WebDriverException])
        wait.until(lambda browser: browser.execute_script(there))

    def part(self, name):
        return self.browser.find_element(By.ID, name)

    def sees(self, name):
        return self.part(name).is_displayed()

    @property
    def screen(self):
        (shown,) = self.browser.execute_script("return SCREENS.filter((id) => element(id).offsetParent)")
        return shown

    @property
    def count(self):
        return self.part("count").text

    @property
    def shown(self):
        """The question on the page: the caption and the two sides, from left to right."""
        options = [self.part(f"option{place}") for place in (1, 2)]
        pictures = [image for option in options for image in option.find_elements(By.TAG_NAME, "img")]
        sides = [image.get_attribute("src") for image in pictures]
        sides = sides or [option.find_elements(By.TAG_NAME, "span")[-1].text for option in options]
        return self.part("caption").text if pictures else "", *sides

    def press(self, *keys):
        """Types keys one after the other, wherever the focus is."""
        for key in keys:
            ActionChains(self.browser).send_keys(key).perform()

    def settle(self):
        """Waits until the page has gone on after a choice."""
        WebDriverWait(self.browser, 5, POLL).until(lambda browser: not browser.execute_script("return pausing"))

    def answer(self, key):
        self.press(key)
        self.settle()

    def enters(self, name):
        """Gives a name on the first screen, where the focus is."""
        self.press(name, Keys.ENTER)
        # What the browser has kept of this rater is read first.
        WebDriverWait(self.browser, 5, POLL).until(lambda _: self.screen != "welcome")

    def starts(self, name="Ann"):
        self.enters(name)
        self.part("continue").click()

    def goes_through(self, choose):
        """Answers every open question with the key that `choose` returns for it."""
        met = []
        while (screen := self.screen) != "end":
            if screen == "part":
                self.part("continue").click()
            else:
                met.append(self.shown)
                self.answer(choose(*met[-1]))
        return met

    def downloads(self, button="download"):
        """The rows and the path of the file that the button saves."""
        before = set(self.folder.glob("*.csv"))
        self.part(button).click()
        (path,) = WebDriverWait(self.browser, 10, POLL).until(lambda _: set(self.folder.glob("*.csv")) - before)
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file)), path


@pytest.fixture
def rater(browser, kit, tmp_path):
    browser.get_log("browser")
    yield Rater(browser, kit, tmp_path)
    # Neither a mistake in the script nor anything that the page's policy had to stop.
    assert browser.get_log("browser") == []


@contextmanager
def held_down(browser, key):
    """A key that is pressed and stays so: the system repeats it."""
    event = {"type": "keyDown", "key": key, "text": key, "windowsVirtualKeyCode": ord(key)}
    browser.execute_cdp_cmd("Input.dispatchKeyEvent", event)
    yield lambda: browser.execute_cdp_cmd("Input.dispatchKeyEvent", event | {"autoRepeat": True})
    browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})


def own_images(kit):
    """Caption -> its own image, which a person who knows the scenes would choose."""
    content = kit.content
    sides = {entry.question: entry.side for entry in kit.key.entries}
    return {
        " ".join(q["caption"].split()): content["pictures"][q[sides[q["id"]]]]
        for q in content["questions"]
        if q["task"] == "accuracy"
    }


def test_raters_answer_everything_and_their_files_are_counted(rater, kit):
    own = own_images(kit)
    met, files = {}, []
    for name in ("Ann", 'Bo "b", née Ö'):
        rater.enters(name)
        met[name] = rater.goes_through(
            lambda caption, left, _: ("1" if own[caption] == left else "2") if caption else "1"
        )
        rows, path = rater.downloads()
        files.append(path)
        assert tuple(rows[0]) == COLUMNS
        assert {row["rater"] for row in rows} == {name}
        assert len({row["question"] for row in rows}) == len(rows) == QUESTIONS
        # The first part is over before the second one begins.
        assert [row["task"] for row in rows] == sorted(row["task"] for row in rows)
        rater.part("another").click()
    ratings = aggregate(kit.key_file, files)
    assert [(rate.value, rate.missing) for rate in ratings.rates if rate.task == "accuracy"] == [(1.0, 0)] * 3
    assert ratings.agreement["accuracy"].kappa == 1
    # What is right stands now here, now there.
    assert (ratings.answers.groupby("rater")["place"].nunique() == 2).all()
    first, second = met.values()
    assert sorted(map(sorted, first)) == sorted(map(sorted, second))
    assert [sorted(question) for question in first] != [sorted(question) for question in second]
    sides = {tuple(sorted(question)): question for question in first}
    turned = sum(sides[tuple(sorted(question))] != question for question in second)
    assert 0 < turned < QUESTIONS


def test_a_reload_goes_on_where_the_rater_was(rater):
    rater.starts()
    assert rater.count == f"1 of {QUESTIONS}"
    for key in ("1", "2", Keys.ARROW_LEFT, Keys.ARROW_RIGHT):
        rater.answer(key)
    there = rater.shown
    rater.reload()
    assert (rater.screen, rater.count, rater.shown) == ("question", f"5 of {QUESTIONS}", there)
    assert rater.part("rater").text == "Ann"
    rows, _ = rater.downloads("download-now")
    assert [row["place"] for row in rows] == ["1", "2", "1", "2"]


def test_raters_who_share_a_browser_keep_their_own_answers(rater):
    rater.starts("Ann")
    rater.answer("1")
    rater.part("another").click()
    rater.starts("__proto__")
    assert rater.count == f"1 of {QUESTIONS}"
    rater.answer("2")
    rater.answer("2")
    rater.part("another").click()
    rater.enters("Ann")
    assert rater.count == f"2 of {QUESTIONS}"


def test_an_answer_can_be_changed(rater):
    rater.starts()
    rater.answer("1")
    rater.answer("1")
    rater.press(Keys.BACKSPACE)
    rater.part("back").click()
    assert rater.count == f"1 of {QUESTIONS}"
    assert not rater.part("back").is_displayed()
    assert rater.part("option1").get_attribute("aria-pressed") == "true"
    rater.answer("2")
    assert rater.count == f"3 of {QUESTIONS}"
    rows, _ = rater.downloads("download-now")
    assert [row["place"] for row in rows] == ["2", "1"]


def test_one_press_is_one_answer(rater, browser):
    rater.starts()
    with held_down(browser, "1") as repeat:
        rater.settle()
        repeat()
        rater.settle()
    assert rater.count == f"2 of {QUESTIONS}"
    # Two taps while the first choice is still in sight.
    browser.execute_script("for (const place of [2, 1]) element(`option${place}`).click()")
    rater.settle()
    assert rater.count == f"3 of {QUESTIONS}"
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("1").key_up(Keys.CONTROL).perform()
    rater.press("3", "x", Keys.SPACE)
    time.sleep(0.2)
    assert rater.count == f"3 of {QUESTIONS}"
    rows, _ = rater.downloads("download-now")
    assert [row["place"] for row in rows] == ["1", "2"]


def test_a_hostile_caption_is_shown_as_it_is(rater, browser):
    rater.starts()
    met = rater.goes_through(lambda *_: "1")
    hostile = " ".join(HOSTILE.split())
    assert [caption for caption, *_ in met].count(hostile) == 1
    assert sum(hostile in sides for _, *sides in met) == 1
    assert browser.title == "Cats & <dogs>"
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_a_browser_that_keeps_nothing_says_so(rater, browser):
    script = "IDBFactory.prototype.open = () => { throw new DOMException('no') }"
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        rater.reload()
        rater.starts()
        assert rater.sees("unsaved")
        rater.answer("1")
        rater.answer("2")
        rows, _ = rater.downloads("download-now")
        assert [row["place"] for row in rows] == ["1", "2"]
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.parametrize("size", [DESKTOP, SMALL_PHONE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_screen_fits(rater, browser, size):
    rater.resize(*size)
    rater.reload()

    def fits():
        width, height, across, down = browser.execute_script(
            "const page = document.documentElement;"
            "return [innerWidth, innerHeight, page.scrollWidth, page.scrollHeight]"
        )
        assert (width, height) == size
        assert across <= width
        assert down <= height, rater.screen
        for button in browser.find_elements(By.TAG_NAME, "button"):
            if button.is_displayed():
                assert button.size["height"] >= 44

    fits()
    rater.enters("Ann")
    fits()
    rater.part("continue").click()
    fits()
    assert rater.part("option1").size["width"] >= 150
    browser.execute_script(
        "for (const { id, task } of questions) if (task === 'accuracy') answers[id] = ['a', 1]; next()"
    )
    fits()
    rater.part("continue").click()
    fits()
    browser.execute_script("for (const { id } of questions) answers[id] = ['a', 1]; next()")
    assert rater.screen == "end"
    fits()


def test_a_kit_of_one_part_has_no_second(rater, browser, tmp_path):
    write_page(tmp_path / "one.html", [], naturalness_items(), "One part", {})
    browser.get((tmp_path / "one.html").as_uri())
    rater.arrives()
    assert rater.part("summary").text == f"There are {IMAGES - 1} short questions."
    rater.enters("Ann")
    assert not rater.sees("part-number")
    rater.part("continue").click()
    assert len(rater.goes_through(lambda *_: "2")) == IMAGES - 1
