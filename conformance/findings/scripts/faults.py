"""Faults in a script: what they leave in the storage is made by hand, or a small library is loaded before deltalake.

A process that dies, or a storage that dies under it, leaves what it had written. So the operation runs to its end, and
what it wrote after the fault is removed. A reply that is lost needs the library, which needs Linux and a C compiler.
"""

from __future__ import annotations

from textwrap import indent

from conformance.findings.scripts.calls import Calls
from conformance.findings.scripts.ending import Ending
from conformance.findings.scripts.literals import NotPrintable
from delta_models import operations as ops
from delta_models.table import ModelHistory
from delta_models.values import Rows

AFTER_THE_COMMIT = ("checkpoint", "hint", "checksum", "compaction", "clean-up", "stream-done")
PATTERNS = {
    "checkpoint": "*.checkpoint*",
    "hint": "_last_checkpoint",
    "checksum": "*.crc",
    "compaction": "*.compacted.json",
}
LIBRARY = r'''
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
int linkat(int a, const char *from, int b, const char *to, int flags) {
    static int struck;
    int (*real)(int, const char *, int, const char *, int) = dlsym(RTLD_NEXT, "linkat");
    if (!strstr(to, "COMMIT") || struck++) return real(a, from, b, to, flags);
    CALL
    return errno = ERRNO, -1;
}
"""
'''.strip()
TOLD = 'sys.excepthook = lambda kind, error, at: end(2, f"{kind.__name__}: {error}")'
AGE = (
    "def age(hours):",
    '    """Make the table older: the times of its files, and those that its commits hold."""',
    '    for file in [file for file in Path(path).rglob("*") if file.is_file()]:',
    "        then = file.stat().st_mtime - hours * 3600",
    '        if file.suffix == ".json":',
    "            times = r'(\"(?:deletionTimestamp|modificationTime|timestamp|inCommitTimestamp)\":)(\\d+)'",
    '            older = re.sub(times, lambda found: f"{found[1]}{int(found[2]) - hours * 3600000}", file.read_text())',
    "            file.write_text(older)",
    "        os.utime(file, (then, then))",
    "",
    "",
)


def cut(fault: ops.Operation, operation: list[str], *, moves: bool) -> list[str]:
    """The lines of an operation during which its process, or its storage, dies. Raises NotPrintable.

    With `moves` the table gets another path afterwards, so that nothing the engine remembers of it counts.
    """
    assert isinstance(fault, ops.KillAt | ops.DeadTableAt)  # noqa: S101 - the caller has looked
    if fault.role.startswith("stream"):
        message = "a stream that is cut"
        raise NotPrintable(message)
    lines = list(operation)
    newest = 'newest = max(Path(path, "_delta_log").glob("?" * 20 + ".json"))'
    if fault.role == "data" and fault.moment == "before" and fault.ordinal == 0:
        return ["# It dies before its first file: nothing is left of it."]
    if fault.role in AFTER_THE_COMMIT:
        lines += [
            newest,
            "# It dies after its commit: what it wrote later is taken away.",
            'for file in newest.parent.glob(f"*{newest.stem}.*"):',
            '    if not file.name.endswith(".json"):',
            "        file.unlink()",
        ]
    elif fault.role == "commit" and fault.moment == "after":
        lines.append("# It dies right after its commit.")
    else:
        lines += [
            newest,
            "# It dies before its commit: its files stay, the commit is taken away.",
            'for file in newest.parent.glob(f"*{newest.stem}*"):',
            "    file.unlink()",
        ]
    return [*lines, 'path = shutil.move(path, path + "-moved")'] if moves else lines


def damage(fault: ops.DamageFile, *, moves: bool) -> list[str]:
    """The lines that remove or truncate the newest file of a role. Raises NotPrintable."""
    pattern = PATTERNS.get(fault.role)
    if pattern is None:
        message = f"damage to a file of the role {fault.role}"
        raise NotPrintable(message)
    act = (
        "unlink()"
        if fault.how == "remove"
        else "write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])"
    )
    lines = [f'damaged = max(Path(path, "_delta_log").glob("{pattern}"))', f"damaged.{act}"]
    return [*lines, 'path = shutil.move(path, path + "-moved")'] if moves else lines


def with_library(fault: ops.Operation, version: int, *, asks: bool) -> list[str]:
    """The lines that run the script in a process where the link of a commit fails; `refused` is its error if one asks.

    Raises NotPrintable for other faults.
    """
    match fault:
        case ops.LoseReplyAt(role="commit", errno=errno, ordinal=0):
            call = "real(a, from, b, to, flags);"
        case ops.FailAt(role="commit", errno=errno, ordinal=0):
            call = "// and the link is not made"
        case _:
            message = "a call of the storage that fails"
            raise NotPrintable(message)
    source = LIBRARY.replace("CALL", call).replace("ERRNO", errno).replace("COMMIT", f"/{version:020}.json")
    told = ['refused = child.stdout.strip() if child.returncode else ""'] if asks else []
    return [
        *source.splitlines(),
        'Path(path + ".c").write_text(SHIM)',
        'subprocess.run(["cc", "-shared", "-fPIC", "-o", path + ".so", path + ".c", "-ldl"], check=True)',
        'env = os.environ | {"LD_PRELOAD": path + ".so"}',
        "child = subprocess.run([sys.executable, __file__, path], env=env, stdout=subprocess.PIPE, text=True)",
        *told,
    ]


def about_crash(requirement: str, before: ModelHistory, after: ModelHistory, calls: Calls) -> Ending:
    """The end for `crash.*`: the table is as before the operation or as after it, and the operation said which."""
    if requirement == "crash.once":
        most = sum(state.commits[1] for state in after.states)
        return Ending(
            lines=(
                'versions = sorted(file.stem for file in Path(path, "_delta_log").glob("?" * 20 + ".json"))',
                f'wrong = versions[{most}:] and f"the operation has committed again: {{versions}}"',
            ),
            right="{versions}",
        )
    schema = after.table.schema
    if before.table.exists and before.table.schema != schema:
        message = "rows of two schemas"
        raise NotPrintable(message)
    found, wanted = calls.comparison()
    lines = [*calls.answer(ops.Read(), schema)]
    for name, model in (("without", before), ("with_it", after)):
        rows = model.table.rows if model.table.exists else ()
        expected = calls.expected(Rows(schema, rows))
        lines += [*expected, f"{name} = {wanted}"]
    lines.append(f"found = {found}")
    match requirement:
        case "crash.all-or-nothing":
            lines.append(
                'wrong = "" if found in (without, with_it) else'
                ' f"the rows are {found}, they should be {without} or {with_it}"'
            )
        case "crash.told-truly":
            lines += [
                'is_in, conflicts = found == with_it, "concurrent transaction" in refused',
                "if is_in and refused and not conflicts:",
                '    end(2, f"can\'t tell: it is in the table, and said {refused}: was that a refusal?")',
                "said = f\"was told to be {refused or 'done'}\"",
                'wrong = "" if is_in == (not refused) else f"{said}, and the rows are {found}"',
            ]
        case "crash.keeps-committed":
            lines.append(
                'wrong = "" if found in (without, with_it) else f"the rows are {found}, they were {without}"'
            )
        case _:
            message = requirement
            raise NotPrintable(message)
    return Ending(lines=tuple(lines), right="the rows are {found}")


def indented(lines: list[str]) -> list[str]:
    """The lines, one level deeper."""
    return indent("\n".join(lines), "    ").splitlines()
