"""Return the end of a script that shows a deviation in the log, with nothing but json and pyarrow."""

from __future__ import annotations

from textwrap import dedent

from conformance.checks.metrics import ADDED, REMOVED

LIVE = dedent('''
    def commits():
        """The actions of each version, by kind."""
        for version in log_versions():
            with open(os.path.join(path, "_delta_log", f"{version:020d}.json")) as file:
                yield version, [json.loads(line) for line in file if line.strip()]


    def live_files():
        """Adds minus removes, by path and deletion vector."""
        live = {}
        for _, actions in commits():
            for kind in ("remove", "add"):
                for action in actions:
                    form = action.get(kind)
                    if form:
                        key = (form["path"], json.dumps(form.get("deletionVector"), sort_keys=True))
                        live.pop(key, None)
                        if kind == "add":
                            live[key] = form
        return live
''').strip()

STATISTICS = dedent('''
    from datetime import date, datetime, timezone
    from urllib.parse import unquote

    import pyarrow.parquet as pq


    def stated(text, actual):
        """A bound of the statistics as a value that compares with those of the file."""
        if isinstance(actual, datetime):
            bound = datetime.fromisoformat(text.replace("Z", "+00:00"))
            return bound if actual.tzinfo is None or bound.tzinfo else bound.replace(tzinfo=timezone.utc)
        if isinstance(actual, date):
            return date.fromisoformat(text)
        if isinstance(actual, Decimal):
            return Decimal(str(text))
        return float(text) if isinstance(actual, float) else text


    def broken_rules(part, bound, actual, nan):
        """The rules that a bound of a column breaks; strings may be cut, timestamps cut to milliseconds."""
        low, cut = part == "minValues", isinstance(actual, (str, datetime))
        if nan and not low:
            yield "stats.max-covers-nan"
        value = stated(bound, actual)
        beyond = value > actual if low else value < actual
        if beyond and isinstance(actual, str) and not low and actual.startswith(value):
            yield "stats.max-string-not-below"
        elif beyond and isinstance(actual, datetime) and not low and (actual - value).total_seconds() < 0.001:
            return  # the protocol has timestamps cut down to milliseconds, the maximum as well
        elif beyond:
            yield "stats.min-values" if low else "stats.max-values"
        elif value != actual and not cut:
            yield "stats.tight-bounds"


    mismatches = []
    for form in live_files().values():
        if form.get("deletionVector"):
            continue
        stats = json.loads(form.get("stats") or "{}", parse_float=Decimal)
        file = pq.ParquetFile(os.path.join(os.path.realpath(path), unquote(form["path"]))).read()
        if stats.get("numRecords", file.num_rows) != file.num_rows:
            mismatches.append(("stats.num-records", form["path"], stats["numRecords"], file.num_rows))
        for name in file.column_names:
            values = file.column(name).to_pylist()
            nulls = (stats.get("nullCount") or {}).get(name)
            if nulls is not None and nulls != values.count(None):
                mismatches.append(("stats.null-count", name, nulls, values.count(None)))
            nan = any(value != value for value in values)
            present = [value for value in values if value is not None and value == value]
            for part, extreme in (("minValues", min), ("maxValues", max)):
                bound = (stats.get(part) or {}).get(name)
                if bound is not None and not isinstance(bound, dict) and present:
                    for rule in broken_rules(part, bound, extreme(present), nan):
                        mismatches.append((rule, f"{part} of {name}", bound, "NaN" if nan else extreme(present)))
    for mismatch in mismatches:
        print("   %s: %s: the statistics say %s, the file %s" % mismatch)
    shown = [mismatch for mismatch in mismatches if mismatch[0] == REQUIREMENT]
    ended(bool(shown), f"{len(shown)} statistics break {REQUIREMENT}")
''').strip()

CHECKPOINT = dedent('''
    import pyarrow.parquet as pq


    def comparable(form):
        """An add without what a checkpoint may leave out."""
        kept = {key: form.get(key) for key in ("path", "size", "modificationTime")}
        kept["partitionValues"] = {key: value or None for key, value in dict(form.get("partitionValues") or {}).items()}
        stats = json.loads(form.get("stats") or "{}", parse_float=str)
        return json.dumps(kept, sort_keys=True), json.dumps(stats, sort_keys=True)


    log = os.path.join(path, "_delta_log")
    newest = max((name for name in os.listdir(log) if name.endswith(".checkpoint.parquet")), default=None)
    if newest is None:
        ended(False, "there is no checkpoint")
    checkpoint_version = int(newest[:20])
    live = {}
    for version, actions in commits():
        if version <= checkpoint_version:
            for kind in ("remove", "add"):
                for action in actions:
                    form = action.get(kind)
                    if form:
                        live.pop(form["path"], None)
                        if kind == "add":
                            live[form["path"]] = form
    checkpointed = {
        row["add"]["path"]: row["add"]
        for row in pq.read_table(os.path.join(log, newest)).to_pylist(maps_as_pydicts="lossy")
        if row.get("add") and row["add"].get("path")
    }
    differing = sorted(set(live) ^ set(checkpointed))
    for name in sorted(set(live) & set(checkpointed)):
        if comparable(live[name]) != comparable(checkpointed[name]):
            differing.append(name)
            print("   commit:    ", *comparable(live[name]))
            print("   checkpoint:", *comparable(checkpointed[name]))
    for name in differing:
        print("   file", name)
    summary = f"{len(differing)} files are not the same in checkpoint {checkpoint_version} and in the commits before it"
    ended(bool(differing), summary)
''').strip()

PROTOCOL = dedent("""
    unneeded = [name.strip() for name in SEEN.partition(" needs ")[2].split(",") if name.strip()]
    protocol = [form["protocol"] for _, actions in commits() for form in actions if "protocol" in form][-1]
    print("   the protocol:", json.dumps(protocol))
    named = {*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())}
    shown = sorted(named & set(unneeded))
    ended(bool(shown), f"named although nothing of the table needs it: {', '.join(shown) or 'nothing'}")
""").strip()

COUNTS = dedent("""
    _, actions = list(commits())[-1]
    for action in actions:
        print("  ", json.dumps(action)[:600])
    info = next(form["commitInfo"] for form in actions if "commitInfo" in form)
    counts = {name.replace("_", "").lower(): count for name, count in (info.get("operationMetrics") or {}).items()}
    added = {form["add"]["path"] for form in actions if "add" in form}
    removed = {form["remove"]["path"] for form in actions if "remove" in form}
    if added & removed:
        ended(False, "a file stays with another deletion vector: nothing is said of its counts")
    facts = dict.fromkeys(%s, len(added)) if added else {}
    facts |= dict.fromkeys(%s, len(removed))
    mismatches = [
        f"{name} is said to be {counts[name]}, it is {fact}"
        for name, fact in facts.items()
        if name in counts and int(counts[name]) != fact
    ]
    ended(bool(mismatches), "; ".join(mismatches) or "the counts of files are right")
""").strip() % (list(ADDED), list(REMOVED))

LAST_COMMIT = dedent("""
    for version, actions in commits():
        if version == versions[max(versions)]:
            for action in actions:
                print("  ", json.dumps(action)[:600])
    print("The newest commit is above. The rule:", RULE)
    print("What was seen:", SEEN)
    sys.stdout.flush()
    os._exit(2)  # a person has to judge
""").strip()


def symptom(requirement: str) -> str | None:
    """Return the code that shows a violation of a rule of the log; None for rules that are not about the log."""
    kind = requirement.partition(".")[0]
    if kind == "stats":
        return f"{LIVE}\n\n\n{STATISTICS}"
    if kind == "checkpoint":
        return f"{LIVE}\n\n\n{CHECKPOINT}"
    if requirement == "protocol.features-needed":
        return f"{LIVE}\n\n\n{PROTOCOL}"
    if requirement == "metrics.files":
        return f"{LIVE}\n\n\n{COUNTS}"
    if kind in {"metrics", "protocol", "rules", "cdc", "log", "dv", "schema", "checksum"}:
        return f"{LIVE}\n\n\n{LAST_COMMIT}"
    return None
