import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.delta.kernel.DataWriteContext;
import io.delta.kernel.Operation;
import io.delta.kernel.Scan;
import io.delta.kernel.Snapshot;
import io.delta.kernel.Table;
import io.delta.kernel.Transaction;
import io.delta.kernel.TransactionBuilder;
import io.delta.kernel.data.ColumnVector;
import io.delta.kernel.data.ColumnarBatch;
import io.delta.kernel.data.FilteredColumnarBatch;
import io.delta.kernel.data.Row;
import io.delta.kernel.defaults.engine.DefaultEngine;
import io.delta.kernel.defaults.internal.data.DefaultColumnarBatch;
import io.delta.kernel.defaults.internal.data.vector.DefaultGenericVector;
import io.delta.kernel.engine.Engine;
import io.delta.kernel.engine.FileReadResult;
import io.delta.kernel.exceptions.ConcurrentWriteException;
import io.delta.kernel.exceptions.KernelException;
import io.delta.kernel.exceptions.TableAlreadyExistsException;
import io.delta.kernel.exceptions.TableNotFoundException;
import io.delta.kernel.expressions.Literal;
import io.delta.kernel.internal.InternalScanFileUtils;
import io.delta.kernel.internal.actions.AddFile;
import io.delta.kernel.internal.actions.SingleAction;
import io.delta.kernel.internal.data.ScanStateRow;
import io.delta.kernel.internal.types.DataTypeJsonSerDe;
import io.delta.kernel.internal.util.Utils;
import io.delta.kernel.types.BooleanType;
import io.delta.kernel.types.ByteType;
import io.delta.kernel.types.DataType;
import io.delta.kernel.types.DateType;
import io.delta.kernel.types.IntegerType;
import io.delta.kernel.types.LongType;
import io.delta.kernel.types.ShortType;
import io.delta.kernel.types.StringType;
import io.delta.kernel.types.StructField;
import io.delta.kernel.types.StructType;
import io.delta.kernel.utils.CloseableIterable;
import io.delta.kernel.utils.CloseableIterator;
import io.delta.kernel.utils.DataFileStatus;
import io.delta.kernel.utils.FileStatus;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * A host for Delta Kernel: it creates, appends, overwrites and reads tables, as the host protocol of delta-conformance asks
 * (docs/host-protocol.md). Requests come on the standard input, replies go to the standard output.
 */
public final class KernelHost {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] MAGIC = "DCW1".getBytes(StandardCharsets.US_ASCII);
    private static final int PROTOCOL = 1;
    private static final int CONTRACT = 1;

    private final Engine engine = DefaultEngine.create(new Configuration());
    private final JsonNode claims;
    private String location = "";

    private KernelHost(JsonNode claims) {
        this.claims = claims;
    }

    public static void main(String[] arguments) throws IOException {
        OutputStream replies = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // what a library prints must not come between the frames
        new KernelHost(JSON.readTree(Files.readString(Path.of(arguments[0])))).run(new DataInputStream(System.in), replies);
    }

    private void run(DataInputStream requests, OutputStream replies) throws IOException {
        while (true) {
            JsonNode request;
            try {
                request = receive(requests);
            } catch (EOFException end) {
                return; // the harness is gone
            }
            String call = request.path("call").asText();
            ObjectNode reply;
            try {
                reply = answer(call, request);
            } catch (Exception error) { // what no rule below foresees is a bug of this host
                reply = JSON.createObjectNode();
                StringWriter trace = new StringWriter();
                error.printStackTrace(new PrintWriter(trace));
                reply.putObject("bug")
                        .put("type", error.getClass().getSimpleName())
                        .put("message", String.valueOf(error.getMessage()))
                        .put("traceback", trace.toString());
            }
            reply.set("id", request.path("id"));
            send(replies, reply);
            if (call.equals("stop")) {
                return;
            }
        }
    }

    private ObjectNode answer(String call, JsonNode request) throws IOException {
        ObjectNode reply = JSON.createObjectNode();
        long start = System.nanoTime();
        switch (call) {
            case "hello" -> {
                if (request.path("protocol").asInt() != PROTOCOL || request.path("contract").asInt() != CONTRACT) {
                    reply.putObject("refused").put("protocol", PROTOCOL).put("contract", CONTRACT);
                    return reply;
                }
                reply.set("identity", claims.get("identity"));
                reply.set("capabilities", claims.get("capabilities"));
            }
            case "open" -> location = request.get("location").asText();
            case "execute" -> reply.set("outcome", outcomeOf(request.get("operation"), request.path("tag").asText()));
            case "read" -> read(request.get("operation"), reply);
            case "stop" -> { }
            default -> throw new IllegalArgumentException("this host knows no call " + call);
        }
        if (call.equals("execute") || call.equals("read")) {
            reply.put("seconds", (System.nanoTime() - start) / 1e9);
        }
        return reply;
    }

    // Operations

    private ObjectNode outcomeOf(JsonNode operation, String tag) throws IOException {
        try {
            switch (operation.get("is").asText()) {
                case "Create" -> create(operation);
                case "Append" -> write(operation.get("rows"), tag, false);
                case "Overwrite" -> write(operation.get("rows"), tag, true);
                default -> {
                    return outcome("Unsupported").put("reason", "this host has no " + operation.get("is").asText());
                }
            }
        } catch (TableAlreadyExistsException | TableNotFoundException | ConcurrentWriteException error) {
            return refused(error);
        } catch (KernelException error) {
            return refused(error);
        } catch (IllegalArgumentException error) { // so Kernel refuses a partition value of another type
            return outcome("Rejected").put("kind", "schema").put("message", String.valueOf(error.getMessage()));
        }
        return outcome("Committed");
    }

    private void create(JsonNode operation) {
        Map<String, String> properties = new HashMap<>();
        for (JsonNode property : operation.path("properties")) {
            properties.put(property.get(0).asText(), property.get(1).asText());
        }
        List<String> partitionColumns = new ArrayList<>();
        operation.path("partition_by").forEach(name -> partitionColumns.add(name.asText()));
        StructType schema = DataTypeJsonSerDe.deserializeStructType(operation.get("schema").get("type").toString());
        TransactionBuilder builder = Table.forPath(engine, location)
                .createTransactionBuilder(engine, "kernel-host", Operation.CREATE_TABLE)
                .withSchema(engine, schema)
                .withTableProperties(engine, properties);
        if (!partitionColumns.isEmpty()) {
            builder = builder.withPartitionColumns(engine, partitionColumns);
        }
        builder.build(engine).commit(engine, CloseableIterable.emptyIterable());
    }

    private void write(JsonNode rows, String tag, boolean overwrite) throws IOException {
        Table table = Table.forPath(engine, location);
        Snapshot snapshot = table.getLatestSnapshot(engine); // throws if there is no table
        Transaction transaction =
                table.createTransactionBuilder(engine, "kernel-host " + tag, Operation.WRITE).build(engine);
        List<Row> actions = new ArrayList<>();
        if (overwrite) {
            actions.addAll(removals(snapshot));
        }
        StructType schema = DataTypeJsonSerDe.deserializeStructType(rows.get("schema").toString());
        List<String> partitionColumns = transaction.getPartitionColumns(engine);
        Row state = transaction.getTransactionState(engine);
        for (Map.Entry<List<Object>, List<JsonNode>> part : parts(rows.get("rows"), schema, partitionColumns).entrySet()) {
            Map<String, Literal> values = new HashMap<>();
            for (int index = 0; index < partitionColumns.size(); index++) {
                StructField field = schema.get(partitionColumns.get(index));
                values.put(field.getName(), literal(field.getDataType(), part.getKey().get(index)));
            }
            CloseableIterator<FilteredColumnarBatch> batches = Utils.singletonCloseableIterator(
                    new FilteredColumnarBatch(batch(schema, part.getValue()), Optional.empty()));
            CloseableIterator<FilteredColumnarBatch> physical =
                    Transaction.transformLogicalData(engine, state, batches, values);
            DataWriteContext context = Transaction.getWriteContext(engine, state, values);
            CloseableIterator<DataFileStatus> files = engine.getParquetHandler()
                    .writeParquetFiles(context.getTargetDirectory(), physical, context.getStatisticsColumns());
            try (CloseableIterator<Row> added = Transaction.generateAppendActions(engine, state, files, context)) {
                added.forEachRemaining(actions::add);
            }
        }
        transaction.commit(
                engine, CloseableIterable.inMemoryIterable(Utils.toCloseableIterator(actions.iterator())));
    }

    private List<Row> removals(Snapshot snapshot) throws IOException {
        List<Row> removals = new ArrayList<>();
        Scan scan = snapshot.getScanBuilder().build();
        try (CloseableIterator<FilteredColumnarBatch> batches = scan.getScanFiles(engine)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> files = batches.next().getRows()) {
                    while (files.hasNext()) {
                        AddFile file = new AddFile(files.next().getStruct(InternalScanFileUtils.ADD_FILE_ORDINAL));
                        removals.add(SingleAction.createRemoveFileSingleAction(
                                file.toRemoveFileRow(true, Optional.of(System.currentTimeMillis()))));
                    }
                }
            }
        }
        return removals;
    }

    // Rows

    private static Map<List<Object>, List<JsonNode>> parts(JsonNode rows, StructType schema, List<String> partitionColumns) {
        Map<List<Object>, List<JsonNode>> parts = new LinkedHashMap<>();
        for (JsonNode row : rows) {
            List<Object> key = new ArrayList<>();
            for (String name : partitionColumns) {
                int index = schema.indexOf(name);
                if (index < 0) {
                    continue; // Kernel itself shall refuse rows without a partition column
                }
                key.add(value(schema.at(index).getDataType(), row.get(index)));
            }
            parts.computeIfAbsent(key, unused -> new ArrayList<>()).add(row);
        }
        return parts;
    }

    private static ColumnarBatch batch(StructType schema, List<JsonNode> rows) {
        ColumnVector[] columns = new ColumnVector[schema.length()];
        for (int index = 0; index < columns.length; index++) {
            DataType type = schema.at(index).getDataType();
            Object[] values = new Object[rows.size()];
            for (int row = 0; row < values.length; row++) {
                values[row] = value(type, rows.get(row).get(index));
            }
            columns[index] = DefaultGenericVector.fromArray(type, values);
        }
        return new DefaultColumnarBatch(rows.size(), schema, columns);
    }

    private void read(JsonNode read, ObjectNode reply) throws IOException {
        Snapshot snapshot;
        try {
            Table table = Table.forPath(engine, location);
            JsonNode version = read.path("at").path("version");
            snapshot = version.isMissingNode()
                    ? table.getLatestSnapshot(engine)
                    : table.getSnapshotAsOfVersion(engine, version.asLong());
        } catch (KernelException error) {
            reply.set("outcome", refused(error));
            return;
        }
        reply.put("version", snapshot.getVersion());
        StructType schema = snapshot.getSchema();
        ObjectNode rows = reply.putObject("rows").put("is", "Rows");
        rows.set("schema", JSON.readTree(schema.toJson()));
        ArrayNode listed = rows.putArray("rows");
        Scan scan = snapshot.getScanBuilder().build();
        Row state = scan.getScanState(engine);
        StructType physical = ScanStateRow.getPhysicalDataReadSchema(state);
        try (CloseableIterator<FilteredColumnarBatch> batches = scan.getScanFiles(engine)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> files = batches.next().getRows()) {
                    while (files.hasNext()) {
                        readFile(state, physical, files.next(), schema, listed);
                    }
                }
            }
        }
    }

    private void readFile(Row state, StructType physical, Row file, StructType schema, ArrayNode listed) throws IOException {
        FileStatus status = InternalScanFileUtils.getAddFileStatus(file);
        CloseableIterator<ColumnarBatch> data = engine.getParquetHandler()
                .readParquetFiles(Utils.singletonCloseableIterator(status), physical, Optional.empty())
                .map(FileReadResult::getData);
        try (CloseableIterator<FilteredColumnarBatch> batches = Scan.transformPhysicalData(engine, state, file, data)) {
            while (batches.hasNext()) {
                try (CloseableIterator<Row> rows = batches.next().getRows()) {
                    while (rows.hasNext()) {
                        Row row = rows.next();
                        ArrayNode values = listed.addArray();
                        for (int index = 0; index < schema.length(); index++) {
                            add(values, schema.at(index).getDataType(), row, index);
                        }
                    }
                }
            }
        }
    }

    // Values: docs/host-protocol.md says how each type is written

    private static Object value(DataType type, JsonNode form) {
        if (form == null || form.isNull()) {
            return null;
        }
        if (type instanceof LongType) {
            return Long.valueOf(form.asText());
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return form.intValue();
        }
        if (type instanceof ShortType) {
            return form.shortValue();
        }
        if (type instanceof ByteType) {
            return (byte) form.intValue();
        }
        if (type instanceof BooleanType) {
            return form.booleanValue();
        }
        if (type instanceof StringType) {
            return form.asText();
        }
        throw new IllegalArgumentException("this host claims no " + type);
    }

    private static void add(ArrayNode values, DataType type, Row row, int index) {
        if (row.isNullAt(index)) {
            values.addNull();
        } else if (type instanceof LongType) {
            values.add(Long.toString(row.getLong(index)));
        } else if (type instanceof IntegerType || type instanceof DateType) {
            values.add(row.getInt(index));
        } else if (type instanceof ShortType) {
            values.add(row.getShort(index));
        } else if (type instanceof ByteType) {
            values.add(row.getByte(index));
        } else if (type instanceof BooleanType) {
            values.add(row.getBoolean(index));
        } else if (type instanceof StringType) {
            values.add(row.getString(index));
        } else {
            throw new IllegalArgumentException("this host claims no " + type);
        }
    }

    private static Literal literal(DataType type, Object value) {
        if (value == null || value.equals("")) { // the protocol writes both as null
            return Literal.ofNull(type);
        }
        if (type instanceof LongType) {
            return Literal.ofLong((Long) value);
        }
        if (type instanceof DateType) {
            return Literal.ofDate((Integer) value);
        }
        if (type instanceof IntegerType) {
            return Literal.ofInt((Integer) value);
        }
        if (type instanceof ShortType) {
            return Literal.ofShort((Short) value);
        }
        if (type instanceof ByteType) {
            return Literal.ofByte((Byte) value);
        }
        if (type instanceof BooleanType) {
            return Literal.ofBoolean((Boolean) value);
        }
        return Literal.ofString((String) value);
    }

    // Outcomes

    private static ObjectNode outcome(String name) {
        return JSON.createObjectNode().put("is", name);
    }

    private static ObjectNode refused(KernelException error) {
        String kind = "schema";
        if (error instanceof TableAlreadyExistsException) {
            kind = "table-exists";
        } else if (error instanceof TableNotFoundException) {
            kind = "missing-table";
        } else if (error instanceof ConcurrentWriteException) {
            kind = "conflict.other";
        }
        return outcome("Rejected").put("kind", kind).put("message", String.valueOf(error.getMessage()));
    }

    // Frames: magic, length of the header, length of the body, header, body

    private static JsonNode receive(DataInputStream requests) throws IOException {
        byte[] prefix = new byte[16];
        requests.readFully(prefix);
        ByteBuffer lengths = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN);
        byte[] header = new byte[lengths.getInt(4)];
        requests.readFully(header);
        requests.skipNBytes(lengths.getLong(8)); // requests have no body
        return JSON.readTree(header);
    }

    private static void send(OutputStream replies, JsonNode reply) throws IOException {
        byte[] header = JSON.writeValueAsBytes(reply);
        ByteBuffer frame = ByteBuffer.allocate(16 + header.length).order(ByteOrder.LITTLE_ENDIAN);
        frame.put(MAGIC).putInt(header.length).putLong(0).put(header);
        replies.write(frame.array());
        replies.flush();
    }
}
