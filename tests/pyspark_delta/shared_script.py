"""A script as a user of delta-spark writes it; to run it on either engine, only its import changes.

    DeltaTable            from delta.tables, or from pyspark_delta
    spark, path, vectors  a session, the folder of the table, and whether it has deletion vectors ("true", "false")

The result is what a user sees, without anything that an engine makes up.
"""

from __future__ import annotations

SCRIPT = r"""
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

results = []


def record_rows(what):
    frame = DeltaTable.forPath(spark, path).toDF()
    rows = sorted((list(row) for row in frame.collect()), key=str)
    results.append([what, frame.schema.simpleString(), rows])


def values_of(frame, *names):
    return [[row[name] for name in names] for row in frame.collect()]


def record_wrong_calls(calls):
    for what, call in calls.items():
        try:
            call()
            results.append([what, "done"])
        except (TypeError, ValueError) as error:
            results.append([what, type(error).__name__])


def record_error(what, kind, call):
    try:
        call()
        results.append([what, "done"])
    except kind:
        results.append([what, kind.__name__])


def record_refusal(what, call):
    try:
        call()
        results.append([what, "done"])
    except Exception as error:
        results.append([what, "refused"])


(
    DeltaTable.createIfNotExists(spark)
    .location(path)
    .comment("people")
    .addColumn("id", "BIGINT", nullable=False, comment="a number")
    .addColumn("Name", StringType())
    .addColumns([StructField("age", IntegerType()), StructField("where", StringType())])
    .partitionedBy("where")
    .property("delta.enableDeletionVectors", vectors)
    .execute()
)
people = DeltaTable.forPath(spark, path)
record_rows("created")
first = spark.sql(
    "SELECT * FROM VALUES (1L, 'ann', 30, 'here'), (2L, 'bob', null, 'here'), (3L, null, 50, 'there'), "
    "(4L, 'dan', 60, null) AS t(id, name, age, `where`)"
)
source = first.alias("new")
told_by_merge = people.alias("old").merge(source, "old.id = new.id").whenNotMatchedInsertAll().execute()
record_rows("merged into nothing")
people.update("age is null or name = 'dan'", {"age": "coalesce(age, 0) + 1", "name": F.upper("name")})
record_rows("updated")
people.update(set={"`where`": F.expr("coalesce(`where`, 'nowhere')")})
record_rows("moved")
people.delete(F.col("NAME") == "ann")
people.alias("p").delete("p.where = 'there'")
record_rows("deleted")
more = spark.sql("SELECT * FROM VALUES (2L, 'BOB II', 5), (4L, 'DAN II', 6), (9L, 'ida', 7) AS t(id, name, years)")
(
    people.alias("old")
    .merge(more.alias("new"), "old.id = new.id")
    .whenMatchedDelete("new.years > 5")
    .whenMatchedUpdate(set={"name": "new.name", "age": "old.age + new.years"})
    .whenNotMatchedInsert("new.id > 5", {"id": "new.id", "name": "new.name", "where": "'far'"})
    .execute()
)
record_rows("merged")
(
    people.alias("old")
    .merge(more.alias("new"), "old.id = new.id + 100")
    .whenNotMatchedBySourceUpdate("old.age > 3", {"age": "-old.age"})
    .whenNotMatchedBySourceDelete("old.age is null")
    .execute()
)
record_rows("merged by source")
record_refusal("ambiguous", lambda: people.alias("o").merge(more.alias("n"), "o.id > 0").whenMatchedDelete("n.id > 0")
        .whenMatchedUpdate(set={"age": "1"}).execute())
record_refusal("null in a column that takes none", lambda: people.update(set={"id": "cast(null as bigint)"}))
record_refusal("an unknown column", lambda: people.delete("nobody = 1"))
record_refusal("a version that is not there", lambda: people.restoreToVersion(1000))
record_rows("after refusals")
restored = people.restoreToVersion(1)
record_rows("restored")
compacted = people.optimize().where("`where` = 'here'").executeCompaction()
ordered = people.optimize().executeZOrderBy("id")
vacuumed = people.vacuum(1000)
record_rows("kept up")
history = people.history()
operations = [row["operation"] for row in history.collect()]
results.append(["operations", [name for name in operations if not name.startswith("VACUUM")]])
kept = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted", "numDeletedRows", "numUpdatedRows")
numbers = [[[k, v] for k, v in sorted(row["operationMetrics"].items()) if k in kept] for row in history.collect()]
results.append(["numbers", [number for number in numbers if number]])
detail = people.detail()
frames = (told_by_merge, restored, compacted, ordered, vacuumed, history, detail)
results.append(["shapes", *[frame.schema.simpleString() for frame in frames], vacuumed.count()])
shown = ("format", "description", "partitionColumns", "minReaderVersion", "minWriterVersion")
results.append(["detail", values_of(detail, *shown)])
results.append(["is a table", DeltaTable.isDeltaTable(spark, path), DeltaTable.isDeltaTable(spark, path + "-none")])
DeltaTable.forPath(spark, path).clone(path + "-copy", isShallow=True)
copied = DeltaTable.forPath(spark, path + "-copy")
results.append(["clone", sorted((list(row) for row in copied.toDF().collect()), key=str)])
spark.sql("SELECT 1L AS id, 'x' AS p").write.partitionBy("p").parquet(path + "-parquet")
converted = DeltaTable.convertToDelta(spark, "parquet.`" + path + "-parquet`", "p STRING")
converted.generate("symlink_format_manifest")
results.append(["converted", [list(row) for row in converted.toDF().collect()]])
DeltaTable.replace(spark).location(path).addColumn("n", "decimal(5,2)").execute()
record_rows("replaced")
record_wrong_calls({
    "no source": lambda: people.merge(None, "true"),
    "a text as source": lambda: people.merge("new", "true"),
    "no condition": lambda: people.merge(source, None),
    "a number as condition of a merge": lambda: people.merge(source, 3),
    "a number as condition of a clause": lambda: people.merge(source, "true").whenMatchedDelete(3),
    "a number as condition": lambda: people.delete(3),
    "nothing set": lambda: people.update("true"),
    "a list set": lambda: people.update("true", ["n"]),
    "a number as column": lambda: people.update("true", {3: "1"}),
    "a number as value": lambda: people.update("true", {"n": 3}),
    "nothing set by a clause": lambda: people.merge(source, "true").whenMatchedUpdate("true"),
    "no values of a clause": lambda: people.merge(source, "true").whenNotMatchedInsert("true"),
    "a text as version": lambda: people.restoreToVersion("1"),
    "a number as time": lambda: people.restoreToTimestamp(3),
    "a text as protocol": lambda: people.upgradeTableProtocol("1", 2),
    "a number as feature": lambda: people.addFeatureSupport(3),
    "a number as feature to drop": lambda: people.dropFeatureSupport(3),
    "a text as a choice": lambda: people.dropFeatureSupport("checkConstraints", "yes"),
    "a number as target": lambda: people.clone(3),
    "a text as shallow": lambda: people.clone(path + "-none", "yes"),
    "a list as properties": lambda: people.clone(path + "-none", True, False, ["a"]),
    "a number as property of a clone": lambda: people.clone(path + "-none", True, False, {"a": 3}),
    "a text as version of a clone": lambda: people.cloneAtVersion("0", path + "-none"),
    "a number as time of a clone": lambda: people.cloneAtTimestamp(3, path + "-none"),
    "a number as Z-order": lambda: people.optimize().executeZOrderBy(3),
    "a number as name": lambda: DeltaTable.create(spark).tableName(3),
    "a number as place": lambda: DeltaTable.create(spark).location(3),
    "a number as comment": lambda: DeltaTable.create(spark).comment(3),
    "a number as property": lambda: DeltaTable.create(spark).property("a", 3),
    "a number as a new column": lambda: DeltaTable.create(spark).addColumn(3, "int"),
    "a number as type": lambda: DeltaTable.create(spark).addColumn("n", 3),
    "a text as nullable": lambda: DeltaTable.create(spark).addColumn("n", "int", nullable="yes"),
    "a number as comment of a column": lambda: DeltaTable.create(spark).addColumn("n", "int", comment=3),
    "two ways to generate": lambda: DeltaTable.create(spark).addColumn("n", "int", True, "1", "2"),
    "a number to generate": lambda: DeltaTable.create(spark).addColumn("n", "int", True, 3),
    "a text as columns": lambda: DeltaTable.create(spark).addColumns("n"),
    "texts as columns": lambda: DeltaTable.create(spark).addColumns(["n"]),
    "a number as partition": lambda: DeltaTable.create(spark).partitionedBy(3),
})
results.append(["no history", people.history(0).count(), people.history(-1).count()])
DeltaTable.forPath(spark, path).update("n > 0", {})
record_rows("nothing set")
results.append(["settings of a file system", DeltaTable.forPath(spark, path, {"fs.none.key": "x"}).toDF().count()])
record_error(
    "settings of something else",
    IllegalArgumentException,
    lambda: DeltaTable.forPath(spark, path, {"spark.x": "y"}),
)
record_error("a retention too short", IllegalArgumentException, lambda: people.vacuum(0))
nowhere = DeltaTable.create(spark).location(path + "-none").addColumn("n", "int")
record_error("a property of the format that is none", AnalysisException, nowhere.property("delta.none", "1").execute)
spark.range(1).write.parquet(path + "-files")
record_error("a folder with files", AnalysisException,
      DeltaTable.create(spark).location(path + "-files").addColumn("n", "int").execute)
record_error("a feature that nobody knows", Exception, lambda: people.dropFeatureSupport("nobodys"))
record_error("a feature that the table has not", Exception, lambda: people.dropFeatureSupport("v2Checkpoint"))
replaced = DeltaTable.forPath(spark, path)


def protocol(what):
    row = DeltaTable.forPath(spark, path).detail().collect()[0]
    results.append([what, row["minReaderVersion"], row["minWriterVersion"], sorted(row["tableFeatures"])])


for versions in ((1, 1), (1, 3), (3, 7), (1, 4)):
    replaced.upgradeTableProtocol(*versions)
    protocol(versions)
replaced.addFeatureSupport("TimestampNtz")
protocol("a feature more")
replaced.upgradeTableProtocol(1, 2)
protocol("never lowered")
replaced.dropFeatureSupport("checkConstraints")
protocol("a feature less")
result = results
"""
