package pyspark_delta;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.FileSourceOptions;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute$;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.*;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.*;
import org.apache.spark.util.collection.BitSet;
import org.roaringbitmap.IntConsumer;
import org.roaringbitmap.RoaringBitmap;

// A filter that leaves deleted rows out, and a planner strategy that lets the filter count rows instead of having
// Spark's reader number them. Executors do not have this class, so they receive objects of Spark's classes only.
public class DeletedRows extends SparkStrategy {
  private static final String FIRST = "__pyspark_delta_first";
  private static final String COUNT = "__pyspark_delta_count";
  private static final String ROW = "_tmp_metadata_row_index";
  private static final long COUNTED = (1L << 33) - 1;

  public Object bits(byte[] places, int count) throws IOException {
    RoaringBitmap packed = new RoaringBitmap();
    packed.deserialize(ByteBuffer.wrap(places));
    Bits bits = new Bits(count);
    packed.forEach((IntConsumer) bits);
    return bits.set;
  }

  // The condition that a row is not deleted. Row positions are counted through all files; FIRST is that of a file's
  // first row.
  public Object kept(SparkSession session, BitSet bits, String row) {
    scala.collection.immutable.Seq known = session.experimental().extraStrategies();
    if (!known.contains(this)) {
      session.experimental().extraStrategies_$eq((scala.collection.immutable.Seq) known.appended(this));
    }
    scala.Enumeration.Value quiet = EvalMode$.MODULE$.LEGACY();
    Expression place = new Cast(
        new Add(column(FIRST), column(row), new NumericEvalContext(quiet, false)), IntegerType$.MODULE$,
        scala.Option.empty(), quiet);
    Expression gone = new Invoke(new Literal(bits, new ObjectType(BitSet.class)), "get", BooleanType$.MODULE$,
        none().$colon$colon(place), none(), false, false, true);
    return org.apache.spark.sql.classic.ExpressionUtils$.MODULE$.column(new Not(gone));
  }

  private static Expression column(String name) {
    return new KnownNotNull(UnresolvedAttribute$.MODULE$.quoted(name));
  }

  private static scala.collection.immutable.List none() { return scala.collection.immutable.List$.MODULE$.empty(); }

  private static scala.collection.immutable.Seq all(ArrayList items) {
    return scala.collection.immutable.ArraySeq$.MODULE$.unsafeWrapArray(items.toArray());
  }

  public static class Bits implements IntConsumer {
    private BitSet set;

    public Bits(int size) { set = new BitSet(size); }

    public void accept(int place) { set.set(place); }
  }

  public scala.collection.immutable.Seq apply(LogicalPlan plan) {
    LogicalPlan leaf = plan;
    while (leaf instanceof Project || leaf instanceof Filter) leaf = (LogicalPlan) ((UnaryNode) leaf).child();
    if (leaf == plan || !(leaf instanceof LogicalRelation)) return none();
    Object relation = ((LogicalRelation) leaf).relation();
    if (!(relation instanceof HadoopFsRelation)) return none();
    HadoopFsRelation files = (HadoopFsRelation) relation;
    boolean ours = files.partitionSchema().getFieldIndex(COUNT).isDefined();
    // With columnar rules, another engine may execute the plan, and it may not know this scan.
    if (!ours || !((SparkSession) files.sparkSession()).sessionState().columnarRules().isEmpty()) return none();
    scala.collection.immutable.Seq planned = FileSourceStrategy$.MODULE$.apply(plan);
    if (planned.isEmpty() || !(planned.head() instanceof ProjectExec)) return planned;
    ProjectExec project = (ProjectExec) planned.head();
    if (!(project.child() instanceof FilterExec)) return planned;
    SparkPlan counting = counting(project.projectList(), (FilterExec) project.child());
    return counting == null ? planned : none().$colon$colon(new ProjectExec(project.projectList(), counting));
  }

  // The filter on counted rows, which sees all rows of whole files; null if that is not possible.
  private static SparkPlan counting(scala.collection.immutable.Seq projected, FilterExec filter) {
    if (!(filter.child() instanceof FileSourceScanExec)) return null;
    FileSourceScanExec scan = (FileSourceScanExec) filter.child();
    if (!scan.dataFilters().isEmpty() || hasSubquery(scan.partitionFilters())) return null;
    ArrayList parts = new ArrayList();
    split(filter.condition(), parts);
    Expression kept = null;
    ArrayList others = new ArrayList();
    for (int i = 0; i < parts.size(); i++) {
      if (kept == null && isKept((Expression) parts.get(i))) kept = (Expression) parts.get(i);
      else others.add(parts.get(i));
    }
    ArrayList output = new ArrayList();
    Attribute row = null;
    for (scala.collection.Iterator iterator = scan.output().iterator(); iterator.hasNext();) {
      Attribute next = (Attribute) iterator.next();
      if (!next.name().equals(ROW)) output.add(next);
      else if (row == null) row = next;
      else return null;
    }
    if (kept == null || row == null || refersTo(row, all(others)) || refersTo(row, projected)) return null;
    long most = FilePartition.maxSplitBytes(scan.relation().sparkSession(), scan.selectedPartitions());
    PartitionedFile[] files = scan.selectedPartitions().toPartitionArray();
    for (int i = 0; i < files.length; i++) if (files[i].fileSize() > most) return null;
    ArrayList fields = new ArrayList();
    StructField[] required = scan.requiredSchema().fields();
    for (int i = 0; i < required.length; i++) if (!required[i].name().equals(ROW)) fields.add(required[i]);
    SparkPlan counted = new WholeFiles(scan.relation(), scan.stream(), all(output),
        new StructType((StructField[]) fields.toArray(new StructField[fields.size()])), scan.partitionFilters(),
        scan.optionalBucketSet(), scan.optionalNumCoalescedBuckets(), scan.dataFilters(), scan.tableIdentifier(),
        scan.disableBucketedScan());
    // This filter must see every row, so it is below the others.
    counted = new FilterExec((Expression) kept.transform(new Numbered()), counted);
    for (int i = 0; i < others.size(); i++) counted = new FilterExec((Expression) others.get(i), counted);
    return counted;
  }

  private static boolean hasSubquery(scala.collection.immutable.Seq filters) {
    for (scala.collection.Iterator iterator = filters.iterator(); iterator.hasNext();) {
      if (SubqueryExpression$.MODULE$.hasSubquery((Expression) iterator.next())) return true;
    }
    return false;
  }

  private static boolean refersTo(Attribute column, scala.collection.immutable.Seq expressions) {
    for (scala.collection.Iterator iterator = expressions.iterator(); iterator.hasNext();) {
      if (((Expression) iterator.next()).references().contains(column)) return true;
    }
    return false;
  }

  private static void split(Expression condition, ArrayList parts) {
    if (condition instanceof And) {
      split((Expression) ((And) condition).left(), parts);
      split((Expression) ((And) condition).right(), parts);
    } else {
      parts.add(condition);
    }
  }

  private static boolean isKept(Expression e) {
    if (!(e instanceof Not) || !(((Not) e).child() instanceof Invoke)) return false;
    Expression target = ((Invoke) ((Not) e).child()).targetObject();
    return target instanceof Literal && ((Literal) target).value() instanceof BitSet;
  }

  // Replaces the row's index by the number of rows that the task has read before, which Spark's id function counts in
  // its low bits.
  public static class Numbered extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object node) {
      return node instanceof AttributeReference && ((AttributeReference) node).name().equals(ROW);
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      if (!isDefinedAt(node)) return otherwise.apply(node);
      return new BitwiseAnd(new MonotonicallyIncreasingID(), new Literal(Long.valueOf(COUNTED), LongType$.MODULE$));
    }
  }

  // A scan of whole files. From the FIRST of a file it subtracts the rows of the files before it in the same task.
  public static class WholeFiles extends FileSourceScanExec {
    private transient RDD counted;

    public WholeFiles(HadoopFsRelation relation, scala.Option stream, scala.collection.immutable.Seq output,
        StructType requiredSchema, scala.collection.immutable.Seq partitionFilters, scala.Option optionalBucketSet,
        scala.Option optionalNumCoalescedBuckets, scala.collection.immutable.Seq dataFilters,
        scala.Option tableIdentifier, boolean disableBucketedScan) {
      super(relation, stream, output, requiredSchema, partitionFilters, optionalBucketSet,
          optionalNumCoalescedBuckets, dataFilters, tableIdentifier, disableBucketedScan);
    }

    // Some of Spark's operators send the plan below them to executors, which do not have this class.
    public Object writeReplace() {
      return new FileSourceScanExec(relation(), stream(), output(), requiredSchema(), partitionFilters(),
          optionalBucketSet(), optionalNumCoalescedBuckets(), dataFilters(), tableIdentifier(), disableBucketedScan());
    }

    public RDD inputRDD() {
      if (counted == null) {
        FileScanRDD files = whole((FileScanRDD) super.inputRDD());
        for (scala.collection.Iterator iterator = files.filePartitions().iterator(); iterator.hasNext();) {
          count(((FilePartition) iterator.next()).files());
        }
        counted = files;
      }
      return counted;
    }

    private void count(PartitionedFile[] files) {
      int first = relation().partitionSchema().fieldIndex(FIRST);
      int count = relation().partitionSchema().fieldIndex(COUNT);
      long before = 0;
      for (int i = 0; i < files.length; i++) {
        InternalRow values = files[i].partitionValues().copy();
        values.setLong(first, values.getLong(first) - before);
        before += values.getLong(count);
        files[i] = with(files[i], values, files[i].length());
      }
    }

    // Settings may have changed since planning, so that files are split. Put them together again.
    private FileScanRDD whole(FileScanRDD scanned) {
      ArrayList files = new ArrayList();
      boolean cut = false;
      for (scala.collection.Iterator iterator = scanned.filePartitions().iterator(); iterator.hasNext();) {
        PartitionedFile[] some = ((FilePartition) iterator.next()).files();
        for (int i = 0; i < some.length; i++) {
          cut |= some[i].length() != some[i].fileSize();
          if (some[i].start() == 0) files.add(with(some[i], some[i].partitionValues(), some[i].fileSize()));
        }
      }
      if (!cut) return scanned;
      long most = FilePartition.maxSplitBytes(relation().sparkSession(), selectedPartitions());
      return new FileScanRDD(relation().sparkSession(),
          scanned.org$apache$spark$sql$execution$datasources$FileScanRDD$$readFunction,
          FilePartition.getFilePartitions(relation().sparkSession(), all(files), most), scanned.readSchema(),
          scanned.metadataColumns(), scanned.org$apache$spark$sql$execution$datasources$FileScanRDD$$metadataExtractors,
          new FileSourceOptions(relation().options()));
    }

    private static PartitionedFile with(PartitionedFile file, InternalRow values, long length) {
      return file.copy(values, file.filePath(), file.start(), length, file.locations(), file.modificationTime(),
          file.fileSize(), file.otherConstantMetadataColumnValues());
    }
  }
}
