"""A script as a user of delta-spark writes it; all that it takes to run it on either engine is its import.

    DeltaTable            from delta.tables, or from pyspark_delta
    spark, path, vectors  a session, the folder of the table, and whether it has deletion vectors ("true", "false")

What it gives back is what a user sees, with nothing that an engine makes up.
"""

from __future__ import annotations

SCRIPT = r"""
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

seen = []


def look(what):
    frame = DeltaTable.forPath(spark, path).toDF()
    rows = sorted((list(row) for row in frame.collect()), key=str)
    seen.append([what, frame.schema.simpleString(), rows])


def told(frame, *names):
    return [[row[name] for name in names] for row in frame.collect()]


def refused(what, call):
    try:
        call()
        seen.append([what, "done"])
    except Exception as error:
        seen.append([what, "refused"])


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
look("created")
first = spark.sql(
    "SELECT * FROM VALUES (1L, 'ann', 30, 'here'), (2L, 'bob', null, 'here'), (3L, null, 50, 'there'), "
    "(4L, 'dan', 60, null) AS t(id, name, age, `where`)"
)
source = first.alias("new")
told_by_merge = people.alias("old").merge(source, "old.id = new.id").whenNotMatchedInsertAll().execute()
look("merged into nothing")
people.update("age is null or name = 'dan'", {"age": "coalesce(age, 0) + 1", "name": F.upper("name")})
look("updated")
people.update(set={"`where`": F.expr("coalesce(`where`, 'nowhere')")})
look("moved")
people.delete(F.col("NAME") == "ann")
people.alias("p").delete("p.where = 'there'")
look("deleted")
more = spark.sql("SELECT * FROM VALUES (2L, 'BOB II', 5), (4L, 'DAN II', 6), (9L, 'ida', 7) AS t(id, name, years)")
(
    people.alias("old")
    .merge(more.alias("new"), "old.id = new.id")
    .whenMatchedDelete("new.years > 5")
    .whenMatchedUpdate(set={"name": "new.name", "age": "old.age + new.years"})
    .whenNotMatchedInsert("new.id > 5", {"id": "new.id", "name": "new.name", "where": "'far'"})
    .execute()
)
look("merged")
(
    people.alias("old")
    .merge(more.alias("new"), "old.id = new.id + 100")
    .whenNotMatchedBySourceUpdate("old.age > 3", {"age": "-old.age"})
    .whenNotMatchedBySourceDelete("old.age is null")
    .execute()
)
look("merged by source")
refused("ambiguous", lambda: people.alias("o").merge(more.alias("n"), "o.id > 0").whenMatchedDelete("n.id > 0")
        .whenMatchedUpdate(set={"age": "1"}).execute())
refused("null in a column that takes none", lambda: people.update(set={"id": "cast(null as bigint)"}))
refused("an unknown column", lambda: people.delete("nobody = 1"))
refused("a version that is not there", lambda: people.restoreToVersion(1000))
look("after refusals")
people.restoreToVersion(1)
look("restored")
people.optimize().where("`where` = 'here'").executeCompaction()
people.optimize().executeZOrderBy("id")
people.vacuum(1000)
look("kept up")
history = people.history()
operations = [row["operation"] for row in history.collect()]
seen.append(["operations", [each for each in operations if not each.startswith("VACUUM")]])
kept = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted", "numDeletedRows", "numUpdatedRows")
numbers = [[[k, v] for k, v in sorted(row["operationMetrics"].items()) if k in kept] for row in history.collect()]
seen.append(["numbers", [each for each in numbers if each]])
detail = people.detail()
shown = ("format", "description", "partitionColumns", "minReaderVersion", "minWriterVersion")
seen.append(["detail", told(detail, *shown)])
seen.append(["is a table", DeltaTable.isDeltaTable(spark, path), DeltaTable.isDeltaTable(spark, path + "-none")])
DeltaTable.forPath(spark, path).clone(path + "-copy", isShallow=True)
copied = DeltaTable.forPath(spark, path + "-copy")
seen.append(["clone", sorted((list(row) for row in copied.toDF().collect()), key=str)])
spark.sql("SELECT 1L AS id, 'x' AS p").write.partitionBy("p").parquet(path + "-parquet")
converted = DeltaTable.convertToDelta(spark, "parquet.`" + path + "-parquet`", "p STRING")
converted.generate("symlink_format_manifest")
seen.append(["converted", [list(row) for row in converted.toDF().collect()]])
DeltaTable.replace(spark).location(path).addColumn("n", "decimal(5,2)").execute()
look("replaced")
people.upgradeTableProtocol(3, 7)
people.addFeatureSupport("timestampNtz")
result = seen
"""
