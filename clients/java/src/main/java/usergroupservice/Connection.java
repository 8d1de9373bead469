package usergroupservice;

import java.io.IOException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Sends operations to one service with one API token. */
final class Connection {
  /** Longest pause before the second attempt. Doubles with each attempt, up to the maximum. */
  private static final Duration INITIAL_DELAY = Duration.ofMillis(100);
  private static final Duration MAX_DELAY = Duration.ofSeconds(2);

  private static final Set<Integer> RETRYABLE_STATUSES = Set.of(408, 429, 500, 502, 503, 504);

  /**
   * Methods that a proxy may refuse, with the statuses that proxies use for it. The service accepts them as a POST with
   * {@code X-HTTP-Method-Override}, too. Both forms are the same operation, so sending the second is safe.
   */
  private static final Map<String, Set<Integer>> REFUSALS =
      Map.of("GET", Set.of(400, 403, 405, 411, 413, 501), "PUT", Set.of(403, 405, 501));

  /** {@code hasOverride}: the service accepts the override header. {@code idempotencyKey} may be null. */
  record Operation(String method, String path, String contentType, String body, String idempotencyKey, boolean hasOverride) {}

  private final URI origin;
  private final String apiToken;
  private final Duration deadline;
  private final int maxTries;
  private final HttpClient http;
  private final Clock clock;
  private final Set<String> overridden = ConcurrentHashMap.newKeySet();

  Connection(UserGroupClient.Builder options) {
    origin = checkedOrigin(options.origin);
    if (options.apiToken == null || !options.apiToken.matches("[!-~]+"))
      throw new IllegalArgumentException("apiToken must be only the API token: visible ASCII characters without white space");
    if (options.deadline.isNegative() || options.deadline.isZero())
      throw new IllegalArgumentException("deadline must be above 0");
    if (options.maxTries < 1) throw new IllegalArgumentException("maxTries must be 1 or more");
    apiToken = options.apiToken;
    deadline = options.deadline;
    maxTries = options.maxTries;
    clock = options.clock;
    http = options.httpClient != null
        ? options.httpClient
        : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    if (options.methodOverride) overridden.addAll(REFUSALS.keySet());
  }

  /** Returns the JSON of a successful response. Retries within the deadline while the failure may be temporary. */
  Object execute(Operation operation) {
    var end = clock.nanos() + deadline.toNanos();
    var isLast = maxTries == 1;
    for (var attempt = 1;; attempt++) {
      var remaining = end - clock.nanos();
      try {
        // Half of it, so that one missing response leaves time for another attempt.
        return attempt(operation, clock.nanos() + (isLast ? remaining : remaining / 2));
      } catch (UserGroupServiceException error) {
        if (isLast || !isRetryable(error)) throw error;
        // A slow service gets only one more attempt.
        isLast = attempt == maxTries - 1 || error.code().equals("timed_out");
        var delay = retryDelay(attempt).plus(error.retryAfter().orElse(Duration.ZERO));
        if (clock.nanos() + delay.toNanos() - end >= 0) throw error;
        try {
          clock.sleep(delay);
        } catch (InterruptedException interrupt) {
          throw interrupted();
        }
        if (clock.nanos() - end >= 0) throw error;
      }
    }
  }

  /** Sends the operation. If a proxy does not pass the method, sends it again with the override header. */
  private Object attempt(Operation operation, long until) {
    var method = operation.method();
    if (!operation.hasOverride()) return exchange(operation, method, until);
    if (!overridden.contains(method)) {
      try {
        return exchange(operation, method, until);
      } catch (UserGroupServiceException error) {
        if (!needsOverride(method, error)) throw error;
      }
    }
    try {
      var result = exchange(operation, "POST", until);
      overridden.add(method);
      return result;
    } catch (ServiceException error) {
      // An error of the service proves that the request got through.
      overridden.add(method);
      throw error;
    }
  }

  /** Sends one HTTP request and reads the response. Follows no redirects. */
  private Object exchange(Operation operation, String method, long until) {
    var url = URI.create(origin.toString().replaceAll("/*$", "") + operation.path());
    var request = HttpRequest.newBuilder(url)
        .method(method, HttpRequest.BodyPublishers.ofString(operation.body(), StandardCharsets.UTF_8))
        .header("User-Agent", "user-group-service-java/" + Version.VERSION)
        .header("Authorization", "Token " + apiToken)
        .header("Accept", "application/json")
        .header("Content-Type", operation.contentType());
    if (operation.idempotencyKey() != null) request.header("Idempotency-Key", operation.idempotencyKey());
    if (!method.equals(operation.method())) request.header("X-HTTP-Method-Override", operation.method());
    var exchange = http.sendAsync(request.build(), head -> new Responses.Bounded());
    try {
      var response = exchange.get(Math.max(0, until - clock.nanos()), TimeUnit.NANOSECONDS);
      var headers = response.headers();
      return Responses.read(response.statusCode(), headers.firstValue("Content-Type").orElse(""),
          headers.firstValue("Retry-After").orElse(null), response.body(), method, clock.now());
    } catch (TimeoutException error) {
      exchange.cancel(true);
      throw new TransportException("timed_out", ("No response from the User Group Service at %s in time. "
          + "Check the service, or raise deadline.").formatted(shownOrigin()), 0, null, null);
    } catch (InterruptedException error) {
      exchange.cancel(true);
      throw interrupted();
    } catch (ExecutionException error) {
      throw transportException(error.getCause());
    }
  }

  /** Converts an error of the network. Drops errors that quote received bytes, which may hold a token. */
  private TransportException transportException(Throwable error) {
    var root = error;
    for (var cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof ProtocolException) return TransportException.badResponse("it is not HTTP", 0);
      if (cause instanceof SSLException)
        return new TransportException("tls_failed", "No secure connection to %s (%s). Check origin and its certificate."
            .formatted(shownOrigin(), cause.getClass().getSimpleName()), 0, null, cause);
      root = cause;
    }
    if (!(error instanceof IOException)) throw new IllegalStateException(error);
    return new TransportException("unreachable", ("Cannot reach the User Group Service at %s (%s). "
        + "Check origin, and that the service is running.").formatted(shownOrigin(), root.getClass().getSimpleName()),
        0, null, error);
  }

  private String shownOrigin() {
    return origin.getScheme() + "://" + origin.getRawAuthority();
  }

  private static CancellationException interrupted() {
    Thread.currentThread().interrupt();
    return new CancellationException("The thread was interrupted. The operation may have taken effect.");
  }

  private static boolean isRetryable(UserGroupServiceException error) {
    var isStatus = RETRYABLE_STATUSES.contains(error.status());
    if (error instanceof ServiceException) return isStatus || error.code().equals("idempotency_key_in_use");
    return error.code().equals("unreachable") || error.code().equals("timed_out")
        || error.code().equals("refused") && isStatus;
  }

  /** Returns whether a proxy probably refused the method, or dropped the body because of it. */
  private static boolean needsOverride(String method, UserGroupServiceException error) {
    if (error instanceof ServiceException) return error.code().equals("body_required");
    return error.code().equals("refused") && REFUSALS.get(method).contains(error.status());
  }

  /** Returns the pause after this many attempts. Random, so that clients do not retry in step. */
  private static Duration retryDelay(int attempts) {
    var longest = Math.min(INITIAL_DELAY.toNanos() << Math.min(attempts - 1, 10), MAX_DELAY.toNanos());
    return Duration.ofNanos(longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2));
  }

  private static URI checkedOrigin(String text) {
    try {
      var url = URI.create(text);
      var isHttp = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      if (isHttp && url.getHost() != null && url.getUserInfo() == null && url.getQuery() == null && url.getFragment() == null)
        return url;
    } catch (IllegalArgumentException | NullPointerException error) {
      // Its message quotes the text.
    }
    throw new IllegalArgumentException("origin must be an http or https URL without user, password or query");
  }
}
