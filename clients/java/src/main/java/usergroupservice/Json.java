package usergroupservice;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, strings, numbers, booleans and null. Whole numbers are {@code Long} where they fit, others {@code Double}. */
final class Json {
  private static final int MAX_DEPTH = 1000;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Returns the value of a text in UTF-8. Throws IllegalArgumentException if it is not JSON, without quoting the text. */
  static Object parse(byte[] bytes) {
    try {
      var json = new Json(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
      var value = json.value(0);
      json.skipSpace();
      if (json.at == json.text.length()) return value;
    } catch (CharacterCodingException | StringIndexOutOfBoundsException | NumberFormatException error) {
      // These hold parts of the text.
    }
    throw invalid();
  }

  /** Returns the value as JSON. Throws IllegalArgumentException for values that JSON cannot represent. */
  static String write(Object value) {
    var out = new StringBuilder();
    write(value, out, 0);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out, int depth) {
    if (depth > MAX_DEPTH) throw unrepresentable();
    if (value == null || value instanceof Boolean) out.append(value);
    else if (value instanceof String string) writeString(string, out);
    else if (value instanceof Number number) writeNumber(number, out);
    else if (value instanceof Map<?, ?> map) {
      var separator = "{";
      for (var entry : map.entrySet()) {
        if (!(entry.getKey() instanceof String key)) throw unrepresentable();
        out.append(separator);
        writeString(key, out);
        out.append(':');
        write(entry.getValue(), out, depth + 1);
        separator = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> items) {
      var separator = "";
      out.append('[');
      for (var item : items) {
        out.append(separator);
        write(item, out, depth + 1);
        separator = ",";
      }
      out.append(']');
    } else throw unrepresentable();
  }

  private static void writeNumber(Number number, StringBuilder out) {
    if (number instanceof Double || number instanceof Float) {
      if (!Double.isFinite(number.doubleValue())) throw unrepresentable();
    } else if (!(number instanceof Long || number instanceof Integer || number instanceof Short || number instanceof Byte
        || number instanceof BigDecimal || number instanceof java.math.BigInteger)) throw unrepresentable();
    out.append(number);
  }

  private static void writeString(String string, StringBuilder out) {
    out.append('"');
    for (var i = 0; i < string.length(); i++) {
      var character = string.charAt(i);
      if (Character.isSurrogate(character)) {
        var isPair = Character.isHighSurrogate(character) && i + 1 < string.length()
            && Character.isLowSurrogate(string.charAt(i + 1));
        if (!isPair) throw unrepresentable();
        out.append(character).append(string.charAt(++i));
      } else if (character == '"' || character == '\\') out.append('\\').append(character);
      else if (character < ' ') out.append(String.format("\\u%04x", (int) character));
      else out.append(character);
    }
    out.append('"');
  }

  private Object value(int depth) {
    if (depth > MAX_DEPTH) throw invalid();
    skipSpace();
    return switch (text.charAt(at)) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    var members = new LinkedHashMap<String, Object>();
    at++;
    if (isNext('}')) return members;
    do {
      skipSpace();
      if (text.charAt(at) != '"') throw invalid();
      var name = string();
      if (!isNext(':')) throw invalid();
      members.put(name, value(depth + 1));
    } while (isNext(','));
    if (!isNext('}')) throw invalid();
    return members;
  }

  private List<Object> array(int depth) {
    var items = new ArrayList<>();
    at++;
    if (isNext(']')) return items;
    do items.add(value(depth + 1));
    while (isNext(','));
    if (!isNext(']')) throw invalid();
    return items;
  }

  private String string() {
    var out = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      var character = text.charAt(at);
      if (character < ' ') throw invalid();
      if (character != '\\') out.append(character);
      else if (text.charAt(++at) == 'u') {
        out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        at += 4;
      } else {
        var index = "\"\\/bfnrt".indexOf(text.charAt(at));
        if (index < 0) throw invalid();
        out.append("\"\\/\b\f\n\r\t".charAt(index));
      }
    }
    at++;
    return out.toString();
  }

  private Object number() {
    var start = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
    var number = text.substring(start, at);
    if (!number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw invalid();
    return number.matches("-?[0-9]{1,18}") ? (Object) Long.valueOf(number) : (Object) Double.valueOf(number);
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) throw invalid();
    at += word.length();
    return value;
  }

  /** Skips the character if it is next. */
  private boolean isNext(char character) {
    skipSpace();
    if (text.charAt(at) != character) return false;
    at++;
    return true;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
  }

  private static IllegalArgumentException invalid() {
    return new IllegalArgumentException("it is not JSON");
  }

  private static IllegalArgumentException unrepresentable() {
    return new IllegalArgumentException(
        "A field cannot be represented in JSON: another type, NaN, a lone surrogate, a cycle, or too many levels.");
  }
}
