package pyspark_delta;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.function.Function;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.*;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.execution.datasources.PartitionDirectory$;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.UTF8String;

// The files that a Delta log names, with its partition values, as an index for Spark's planner.
public class DeltaFiles implements FileIndex {
  private Path root;
  private StructType partitions;
  private FileStatus[] files;
  private int[] groups;
  private InternalRow[] values;
  private long size;
  private Function pruner;

  public Object frame(org.apache.spark.sql.classic.SparkSession session, String root, byte[] packed,
      String partitions, String schema, String options, Function pruner) {
    DeltaFiles index = new DeltaFiles();
    index.pruner = pruner;
    index.root = new Path(root);
    index.partitions = (StructType) DataType$.MODULE$.fromJson(partitions);
    index.unpack(packed);
    scala.collection.immutable.Map settings = scala.collection.immutable.Map$.MODULE$.empty();
    String[] lines = options.split("\n");
    for (int i = 0; i < lines.length; i++) {
      int equals = lines[i].indexOf('=');
      settings = (scala.collection.immutable.Map) settings.updated(
          lines[i].substring(0, equals), lines[i].substring(equals + 1));
    }
    StructType data = (StructType) DataType$.MODULE$.fromJson(schema);
    return session.baseRelationToDataFrame(new HadoopFsRelation(
        index, index.partitions, data, scala.Option.empty(), new ParquetFileFormat(), settings, session));
  }

  private void unpack(byte[] packed) {
    ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    int count = in.getInt();
    int groupCount = in.getInt();
    int width = in.getInt();
    long[] sizes = new long[count];
    for (int i = 0; i < count; i++) { sizes[i] = in.getLong(); size += sizes[i]; }
    long[] times = new long[count];
    for (int i = 0; i < count; i++) times[i] = in.getLong();
    groups = new int[count];
    for (int i = 0; i < count; i++) groups[i] = in.getInt();
    files = new FileStatus[count];
    for (int i = 0; i < count; i++) {
      files[i] = new FileStatus(sizes[i], false, 1, 128L << 20, times[i], new Path(text(in)));
    }
    values = new InternalRow[groupCount];
    for (int g = 0; g < groupCount; g++) {
      Object[] row = new Object[width];
      for (int c = 0; c < width; c++) row[c] = value(text(in), partitions.fields()[c].dataType());
      values[g] = new GenericInternalRow(row);
    }
  }

  private static String text(ByteBuffer in) {
    int length = in.getInt();
    if (length < 0) return null;
    String text = new String(in.array(), in.position(), length, StandardCharsets.UTF_8);
    in.position(in.position() + length);
    return text;
  }

  private static Object value(String text, DataType type) {
    if (text == null) return null;
    if (type instanceof BooleanType) return Boolean.valueOf(text);
    if (type instanceof ByteType) return Byte.valueOf(text);
    if (type instanceof ShortType) return Short.valueOf(text);
    if (type instanceof IntegerType || type instanceof DateType) return Integer.valueOf(text);
    if (type instanceof LongType) return Long.valueOf(text);
    if (type instanceof TimestampType || type instanceof TimestampNTZType) return Long.valueOf(text);
    if (type instanceof FloatType) return Float.valueOf(text);
    if (type instanceof DoubleType) return Double.valueOf(text);
    if (type instanceof BinaryType) return text.getBytes(StandardCharsets.UTF_8);
    if (type instanceof DecimalType) {
      DecimalType decimal = (DecimalType) type;
      return Decimal$.MODULE$.apply(new java.math.BigDecimal(text), decimal.precision(), decimal.scale());
    }
    return UTF8String.fromString(text);
  }

  public scala.collection.immutable.Seq listFiles(
      scala.collection.immutable.Seq partitionFilters, scala.collection.immutable.Seq dataFilters) {
    BasePredicate wanted = predicate(partitionFilters);
    byte[] useful = pruned(dataFilters);
    ArrayList[] chosen = new ArrayList[values.length];
    boolean[] known = new boolean[values.length];
    for (int i = 0; i < files.length; i++) {
      if (useful != null && useful[i] == 0) continue;
      int g = groups[i];
      if (!known[g]) {
        known[g] = true;
        if (wanted == null || wanted.eval(values[g])) chosen[g] = new ArrayList();
      }
      if (chosen[g] != null) chosen[g].add(files[i]);
    }
    ArrayList directories = new ArrayList();
    for (int g = 0; g < chosen.length; g++) {
      if (chosen[g] != null) {
        directories.add(PartitionDirectory$.MODULE$.apply(
            values[g], (FileStatus[]) chosen[g].toArray(new FileStatus[chosen[g].size()])));
      }
    }
    return scala.collection.immutable.ArraySeq$.MODULE$.unsafeWrapArray(directories.toArray());
  }

  private BasePredicate predicate(scala.collection.immutable.Seq filters) {
    if (filters.isEmpty()) return null;
    Expression all = null;
    for (scala.collection.Iterator iterator = filters.iterator(); iterator.hasNext();) {
      Expression next = (Expression) iterator.next();
      all = all == null ? next : (Expression) new And(all, next);
    }
    BasePredicate predicate = Predicate$.MODULE$.createInterpreted((Expression) all.transform(new Bound(partitions)));
    predicate.initialize(0);
    return predicate;
  }

  // Replaces columns by their positions in the row of a group's values.
  public static class Bound extends scala.runtime.AbstractPartialFunction {
    private StructType columns;

    public Bound(StructType columns) { this.columns = columns; }

    public boolean isDefinedAt(Object node) { return node instanceof AttributeReference; }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      if (!isDefinedAt(node)) return otherwise.apply(node);
      int position = columns.fieldIndex(((AttributeReference) node).name());
      return new BoundReference(position, columns.fields()[position].dataType(), true);
    }
  }

  private byte[] pruned(scala.collection.immutable.Seq filters) {
    if (pruner == null) return null;
    StringBuilder all = new StringBuilder("[\"and\"");
    boolean any = false;
    for (scala.collection.Iterator iterator = filters.iterator(); iterator.hasNext();) {
      String json = implied((Expression) iterator.next());
      if (json == null) continue;
      any = true;
      all.append(",").append(json);
    }
    return any ? (byte[]) pruner.apply(all.append("]").toString()) : null;
  }

  // JSON of a condition that the expression implies; null if there is none.
  private static String implied(Expression e) {
    if (e instanceof And) return both("and", implied(left(e)), implied(right(e)), true);
    if (e instanceof Or) return both("or", implied(left(e)), implied(right(e)), false);
    if (e instanceof Not) {
      String inner = exactly((Expression) ((Not) e).child());
      return inner == null ? null : "[\"not\"," + inner + "]";
    }
    return exactly(e);
  }

  // A part without JSON may be left out of a conjunction that must hold, and of nothing else.
  private static String both(String operator, String left, String right, boolean mayLeaveOut) {
    if (left == null || right == null) return mayLeaveOut ? (left == null ? right : left) : null;
    return "[\"" + operator + "\"," + left + "," + right + "]";
  }

  // JSON that means exactly the same as the expression; null if there is none.
  private static String exactly(Expression e) {
    if (e instanceof And) return both("and", exactly(left(e)), exactly(right(e)), false);
    if (e instanceof Or) return both("or", exactly(left(e)), exactly(right(e)), false);
    if (e instanceof Not) return implied(e);
    if (e instanceof IsNull) return one("null", column((Expression) ((IsNull) e).child()));
    if (e instanceof IsNotNull) return one("not null", column((Expression) ((IsNotNull) e).child()));
    if (e instanceof EqualTo) return compared("=", "=", (BinaryExpression) e);
    if (e instanceof EqualNullSafe) return compared("<=>", "<=>", (BinaryExpression) e);
    if (e instanceof LessThan) return compared("<", ">", (BinaryExpression) e);
    if (e instanceof LessThanOrEqual) return compared("<=", ">=", (BinaryExpression) e);
    if (e instanceof GreaterThan) return compared(">", "<", (BinaryExpression) e);
    if (e instanceof GreaterThanOrEqual) return compared(">=", "<=", (BinaryExpression) e);
    if (e instanceof StartsWith) return compared("starts", null, (BinaryExpression) e);
    if (e instanceof In) {
      StringBuilder values = new StringBuilder();
      for (scala.collection.Iterator iterator = ((In) e).list().iterator(); iterator.hasNext();) {
        String value = literal((Expression) iterator.next());
        if (value == null) return null;
        values.append(",").append(value);
      }
      return many(column((Expression) ((In) e).value()), values);
    }
    if (e instanceof InSet) {
      StringBuilder values = new StringBuilder();
      for (scala.collection.Iterator iterator = ((InSet) e).hset().iterator(); iterator.hasNext();) {
        String value = plain(iterator.next());
        if (value == null) return null;
        values.append(",").append(value);
      }
      return many(column((Expression) ((InSet) e).child()), values);
    }
    return null;
  }

  private static Expression left(Expression e) { return (Expression) ((BinaryExpression) e).left(); }

  private static Expression right(Expression e) { return (Expression) ((BinaryExpression) e).right(); }

  private static String one(String operator, String column) {
    return column == null ? null : "[" + quoted(operator) + "," + column + "]";
  }

  private static String many(String column, StringBuilder values) {
    return column == null ? null : "[\"in\"," + column + values + "]";
  }

  private static String compared(String forth, String back, BinaryExpression e) {
    String column = column((Expression) e.left());
    String value = literal((Expression) e.right());
    String operator = forth;
    if (column == null && back != null) {
      column = column((Expression) e.right());
      value = literal((Expression) e.left());
      operator = back;
    }
    return column == null || value == null ? null : "[" + quoted(operator) + "," + column + "," + value + "]";
  }

  private static String column(Expression e) {
    String path = path(e);
    return path == null ? null : "[" + path + "]";
  }

  private static String path(Expression e) {
    if (e instanceof AttributeReference) return quoted(((AttributeReference) e).name());
    if (e instanceof GetStructField) {
      GetStructField field = (GetStructField) e;
      String parent = path((Expression) field.child());
      return parent == null ? null : parent + "," + quoted(field.extractFieldName());
    }
    return null;
  }

  private static String literal(Expression e) {
    return e instanceof Literal ? plain(((Literal) e).value()) : null;
  }

  private static String plain(Object value) {
    if (value == null) return "null";
    boolean known = value instanceof UTF8String || value instanceof Number || value instanceof Boolean
        || value instanceof Decimal;
    return known ? quoted(value.toString()) : null;
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ') out.append('\\').append('u').append(String.format("%04x", new Object[] {Integer.valueOf(c)}));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  public scala.collection.immutable.Seq rootPaths() {
    return scala.collection.immutable.ArraySeq$.MODULE$.unsafeWrapArray(new Path[] {root});
  }

  public String[] inputFiles() {
    String[] names = new String[files.length];
    for (int i = 0; i < files.length; i++) names[i] = files[i].getPath().toUri().toString();
    return names;
  }

  public void refresh() {}

  public long sizeInBytes() { return size; }

  public StructType partitionSchema() { return partitions; }
}
