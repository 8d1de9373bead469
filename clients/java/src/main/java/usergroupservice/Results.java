package usergroupservice;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads members of a response. Throws TransportException if they are missing or invalid. */
final class Results {
  /** The end of the year 9999. */
  private static final long MAX_UNIX_TIME = 253_402_300_799L;

  private final Map<String, ?> members;

  private Results(Map<String, ?> members) {
    this.members = members;
  }

  @SuppressWarnings("unchecked")
  static Results of(Object value) {
    if (value instanceof Map<?, ?> members) return new Results((Map<String, ?>) members);
    throw invalid("it is not an object");
  }

  /** Checks that the response says that the operation succeeded. */
  static Results ofSuccess(Object value) {
    var response = of(value);
    if (response.count("success") != 1) throw invalid("its success is invalid");
    return response;
  }

  boolean isOnly(String name, Object value) {
    return members.size() == 1 && value.equals(members.get(name));
  }

  Set<String> names() {
    return members.keySet();
  }

  boolean has(String name) {
    return members.containsKey(name);
  }

  Object get(String name) {
    return members.get(name);
  }

  Results object(String name) {
    if (members.get(name) instanceof Map<?, ?>) return of(members.get(name));
    throw invalidMember(name);
  }

  boolean flag(String name) {
    if (members.get(name) instanceof Boolean value) return value;
    throw invalidMember(name);
  }

  String text(String name) {
    if (members.get(name) instanceof String value && !value.isEmpty()) return value;
    throw invalidMember(name);
  }

  /** Returns null if the member is absent. */
  String textOrNull(String name) {
    return has(name) ? text(name) : null;
  }

  long count(String name) {
    if (members.get(name) instanceof Long value && value >= 0) return value;
    throw invalidMember(name);
  }

  Environment environment() {
    return switch (text("api_environment_tag")) {
      case "Customer" -> Environment.CUSTOMER;
      case "Testing" -> Environment.TESTING;
      default -> throw invalidMember("api_environment_tag");
    };
  }

  Instant unixTime(String name) {
    var seconds = count(name);
    if (seconds > MAX_UNIX_TIME) throw invalidMember(name);
    return Instant.ofEpochSecond(seconds);
  }

  Instant time(String name) {
    try {
      return Instant.parse(text(name));
    } catch (DateTimeException error) {
      throw invalidMember(name);
    }
  }

  /** Returns an object, or nothing if the member is null. */
  @SuppressWarnings("unchecked")
  Optional<Map<String, Object>> objectOrNull(String name) {
    if (!has(name)) throw invalidMember(name);
    if (members.get(name) == null) return Optional.empty();
    return Optional.of((Map<String, Object>) object(name).members);
  }

  List<String> texts(String name) {
    if (!(members.get(name) instanceof List<?> items)) throw invalidMember(name);
    return items.stream().map(item -> {
      if (item instanceof String text && !text.isEmpty()) return text;
      throw invalidMember(name);
    }).toList();
  }

  Optional<Map<String, String>> textByKey(String name) {
    return objectOrNull(name).map(object -> {
      var texts = new LinkedHashMap<String, String>();
      object.keySet().forEach(key -> texts.put(key, object(name).text(key)));
      return texts;
    });
  }

  private static TransportException invalidMember(String name) {
    return invalid("it has an invalid " + name);
  }

  private static TransportException invalid(String detail) {
    return TransportException.badResponse(detail, 200);
  }
}
