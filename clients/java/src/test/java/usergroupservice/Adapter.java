package usergroupservice;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs calls of the client for tests in another language. Reads one JSON call per line and writes one JSON outcome per line. A call has
 * the members {@code client} (its options), {@code method} and {@code args}. The outcome has {@code result} or {@code error}, and
 * {@code pauses}, the pauses between attempts in seconds. They only advance the clock of the client.
 */
final class Adapter {
  private static final class SkippingClock extends Clock {
    final List<Double> pauses = new ArrayList<>();

    private Duration skipped() {
      return Duration.ofNanos((long) (pauses.stream().mapToDouble(pause -> pause).sum() * 1e9));
    }

    @Override
    Instant now() {
      return Instant.parse("2030-01-01T00:00:00Z").plus(skipped());
    }

    @Override
    long nanos() {
      return System.nanoTime() + skipped().toNanos();
    }

    @Override
    void sleep(Duration pause) {
      pauses.add(pause.toNanos() / 1e9);
    }
  }

  private record Known(UserGroupClient client, SkippingClock clock) {}

  public static void main(String[] ignored) throws Exception {
    var clients = new HashMap<String, Known>();
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      var call = object(Json.parse(line.getBytes(StandardCharsets.UTF_8)));
      var known = clients.computeIfAbsent(Json.write(call.get("client")), key -> client(object(call.get("client"))));
      known.clock.pauses.clear();
      var outcome = new LinkedHashMap<String, Object>();
      try {
        outcome.put("result", plain(invoke(known.client, (String) call.get("method"), object(call.get("args")))));
      } catch (UserGroupServiceException error) {
        outcome.put("error", shown(error));
      }
      outcome.put("pauses", known.clock.pauses);
      out.println(Json.write(outcome));
    }
  }

  private static Known client(Map<String, Object> options) {
    var clock = new SkippingClock();
    var builder = UserGroupClient.builder((String) options.get("origin"), (String) options.get("api_token"));
    builder.clock = clock;
    if (options.get("max_tries") instanceof Long maxTries) builder.maxTries(maxTries.intValue());
    if (options.get("method_override") instanceof Boolean isOverridden) builder.methodOverride(isOverridden);
    return new Known(builder.build(), clock);
  }

  private static Object invoke(UserGroupClient client, String method, Map<String, Object> args) {
    var id = (String) args.get("user_group_id");
    switch (method) {
      case "get_or_create":
        return client.getOrCreate(id, fields(args));
      case "update":
        return client.update(id, fields(args));
      case "rotate":
        var rotation = new UserGroupClient.Rotation();
        if (args.get("grace_period_seconds") instanceof Long seconds) rotation.gracePeriod(Duration.ofSeconds(seconds));
        if (args.get("idempotency_key") instanceof String key) rotation.idempotencyKey(key);
        return client.rotate((String) args.get("current_token"), rotation);
      case "create_session":
        return client.createSession(id, viewer(object(args.get("viewer"))), sessionOptions(args));
      case "end_sessions":
        client.endSessions(id, (String) args.get("viewer_id"));
        return null;
      default:
        var token = (String) args.get("token");
        var resource = (String) args.get("resource");
        return (resource == null ? client.introspect(token) : client.introspect(token, resource)).orElse(null);
    }
  }

  @SuppressWarnings("unchecked")
  private static UserGroupClient.Fields fields(Map<String, Object> args) {
    var fields = new UserGroupClient.Fields();
    if (args.containsKey("name")) fields.name((String) args.get("name"));
    if (args.containsKey("mapping")) fields.mapping((Map<String, String>) args.get("mapping"));
    if (args.containsKey("properties")) fields.properties(object(args.get("properties")));
    return fields;
  }

  private static UserGroupClient.Viewer viewer(Map<String, Object> viewer) {
    return new UserGroupClient.Viewer((String) viewer.get("id"), (String) viewer.get("name"), object(viewer.get("properties")),
        (String) viewer.get("time_zone"), (String) viewer.get("locale"));
  }

  @SuppressWarnings("unchecked")
  private static UserGroupClient.SessionOptions sessionOptions(Map<String, Object> args) {
    var options = new UserGroupClient.SessionOptions();
    var narrow = object(args.get("narrow"));
    if (narrow != null && narrow.get("properties") != null)
      options.narrowProperties((Map<String, List<?>>) narrow.get("properties"));
    if (narrow != null && narrow.get("schemas") != null) options.narrowSchemas((List<String>) narrow.get("schemas"));
    if (args.get("resources") != null) options.resources((List<String>) args.get("resources"));
    if (args.get("expires_in_seconds") instanceof Long seconds) options.expiresIn(Duration.ofSeconds(seconds));
    if (args.get("audience") != null) options.audience((String) args.get("audience"));
    if (args.get("include") != null) options.include((List<String>) args.get("include"));
    if (args.get("claims") != null) options.claims(object(args.get("claims")));
    return options;
  }

  private static Map<String, Object> shown(UserGroupServiceException error) {
    var printed = new StringWriter();
    error.printStackTrace(new PrintWriter(printed, true));
    var shown = new LinkedHashMap<String, Object>();
    shown.put("type", error instanceof ServiceException ? "ServiceError" : "TransportError");
    shown.put("code", error.code());
    shown.put("message", error.getMessage());
    shown.put("status", error.status() == 0 ? null : error.status());
    shown.put("retry_after_seconds", error.retryAfter().map(wait -> wait.toMillis() / 1000.0).orElse(null));
    shown.put("printed", printed.toString());
    shown.put("fields", List.of());
    if (error instanceof ServiceException refusal) {
      shown.put("request_id", refusal.requestId());
      shown.put("fields", plain(refusal.fields()));
    }
    return shown;
  }

  /** Converts records to maps with names in snake case. */
  private static Object plain(Object value) {
    if (value instanceof Optional<?> optional) return plain(optional.orElse(null));
    if (value instanceof List<?> items) return items.stream().map(Adapter::plain).toList();
    if (value instanceof Instant time) return time.toString();
    if (value instanceof Environment environment) return environment == Environment.CUSTOMER ? "Customer" : "Testing";
    if (value instanceof Map<?, ?> map) {
      var converted = new LinkedHashMap<Object, Object>();
      map.forEach((key, member) -> converted.put(key, plain(member)));
      return converted;
    }
    if (!(value instanceof Record record)) return value;
    var members = new LinkedHashMap<String, Object>();
    Arrays.stream(record.getClass().getRecordComponents()).forEach(component -> {
      try {
        var name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase();
        members.put(name, plain(component.getAccessor().invoke(record)));
      } catch (ReflectiveOperationException error) {
        throw new IllegalStateException(error);
      }
    });
    return members;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }
}
