package usergroupservice;

import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.DateTimeException;
import java.time.format.DateTimeFormatter;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.regex.Pattern;

/** Reads HTTP responses. */
final class Responses {
  /** Far above a response with one user group of the largest properties and mapping. */
  static final int MAX_BYTES = 8 * 1024 * 1024;

  private static final Pattern TOKEN =
      Pattern.compile("ug[at]_(?:customer|testing)_\\w+", Pattern.CASE_INSENSITIVE);

  /** Codes of the OAuth endpoints, whose errors have no code of the service. */
  private static final Map<Integer, String> CODES = Map.of(
      401, "unauthenticated", 403, "forbidden", 408, "request_timeout", 413, "body_too_large",
      415, "unsupported_media_type", 429, "rate_limited", 500, "internal", 503, "unavailable");

  private Responses() {}

  /** Collects a body. The result is null for a body that is too long, whose rest is not read. */
  static final class Bounded implements BodySubscriber<byte[]> {
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private Flow.Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
      return result;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      this.subscription = subscription;
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      for (var buffer : buffers) {
        var bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        body.writeBytes(bytes);
      }
      if (body.size() > MAX_BYTES) {
        subscription.cancel();
        result.complete(null);
      }
    }

    @Override
    public void onError(Throwable error) {
      result.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      result.complete(body.toByteArray());
    }
  }

  /** Returns the JSON of a successful response. */
  static Object read(int status, String contentType, String retryAfter, byte[] body, String method, Instant now) {
    if (status >= 400) {
      var wait = retryAfterOf(retryAfter, now);
      var error = serviceError(body, status, wait);
      if (error != null) throw error;
      throw new TransportException("refused",
          "A proxy in front of the User Group Service refused %s with status %d. Check origin, and that the proxies on the way pass %s."
              .formatted(method, status, method), status, wait, null);
    }
    if (status != 200) throw TransportException.badResponse("its status is " + status, status);
    if (!contentType.split(";")[0].strip().equalsIgnoreCase("application/json"))
      throw TransportException.badResponse("its Content-Type is not application/json", status);
    if (body == null) throw TransportException.badResponse("it is too long", status);
    try {
      return Json.parse(body);
    } catch (IllegalArgumentException error) {
      throw TransportException.badResponse(error.getMessage(), status);
    }
  }

  /** Returns the error, that of an OAuth endpoint in the form of the others, or null if the body is not from the service. */
  private static ServiceException serviceError(byte[] body, int status, Duration retryAfter) {
    try {
      if (body == null) return null;
      var response = Results.of(Json.parse(body));
      if (!(response.get("success") instanceof Long success && success == 0)) {
        response.text("error");
        var code = CODES.getOrDefault(status, "validation_failed");
        return error(code, response.text("error_description"), status, retryAfter, response, List.of());
      }
      var error = response.object("error");
      var fields = new ArrayList<ServiceException.FieldFault>();
      if (error.has("fields")) {
        if (!(error.get("fields") instanceof List<?> items)) return null;
        for (var item : items) {
          var field = Results.of(item);
          if (!(field.get("path") instanceof String path)) return null;
          fields.add(new ServiceException.FieldFault(withoutTokens(path), withoutTokens(field.text("message"))));
        }
      }
      return error(error.text("code"), error.text("message"), status, retryAfter, error, fields);
    } catch (IllegalArgumentException | TransportException error) {
      return null;
    }
  }

  private static ServiceException error(
      String code, String message, int status, Duration wait, Results request, List<ServiceException.FieldFault> fields) {
    return new ServiceException(
        code, withoutTokens(message), status, wait, withoutTokens(request.text("request_id")), fields);
  }

  private static String withoutTokens(String text) {
    return TOKEN.matcher(text).replaceAll("[token]");
  }

  /** Returns the wait, or null. {@code Retry-After} is a number of seconds or a date (RFC 9110, section 10.2.3). */
  private static Duration retryAfterOf(String header, Instant now) {
    if (header == null) return null;
    if (header.matches("[0-9]{1,9}")) return Duration.ofSeconds(Long.parseLong(header));
    try {
      var date = ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return date.isAfter(now) ? Duration.between(now, date) : Duration.ZERO;
    } catch (DateTimeException error) {
      return null;
    }
  }
}
