"""`tests/skips.py`: a skip is reported, and fails the session if skips are forbidden."""

from __future__ import annotations

import pytest

TESTS = """
    import pytest

    def test_runs():
        pass

    def test_is_skipped():
        pytest.skip("corpora: none here")

    @pytest.mark.xfail(strict=True)
    def test_is_expected_to_fail():
        assert False
"""


@pytest.fixture(autouse=True)
def _alone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFORMANCE_FORBID_SKIPS", "CONFORMANCE_MAY_LACK"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeconftest("pytest_plugins = ('tests.skips',)")
    pytester.makepyfile(TESTS)


def test_a_skip_is_reported_with_its_reason_and_the_session_passes(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(
        ["!*1 SKIPPED*", "    1 x corpora: none here", "*1 passed, 1 skipped, 1 xfailed*"]
    )
    assert result.ret == pytest.ExitCode.OK


def test_a_forbidden_skip_fails_the_session(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFORMANCE_FORBID_SKIPS", "1")
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(
        ["    1 x corpora: none here   ?forbidden here?", "*this session has failed*"]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_skip_for_what_the_machine_may_lack_is_not_forbidden(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFORMANCE_FORBID_SKIPS", "1")
    monkeypatch.setenv("CONFORMANCE_MAY_LACK", "corpora")
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.OK
    monkeypatch.setenv("CONFORMANCE_MAY_LACK", "java,tables")
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.TESTS_FAILED


def test_a_session_without_skips_passes_if_skips_are_forbidden(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFORMANCE_FORBID_SKIPS", "1")
    result = pytester.runpytest_subprocess("-k", "not skipped")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*SKIPPED*")


def test_a_skipped_module_counts_under_several_workers_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFORMANCE_FORBID_SKIPS", "1")
    pytester.makepyfile(
        test_whole_module="import pytest\npytest.skip('not today', allow_module_level=True)\n"
    )
    result = pytester.runpytest_subprocess("-n", "1", "-k", "runs")
    result.stdout.fnmatch_lines(["*not today*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
