package usergroupservice;

import java.time.Duration;
import java.util.Optional;

/** An operation failed. Every exception of this package is one, except those for invalid arguments. It never holds a token. */
public abstract sealed class UserGroupServiceException extends RuntimeException permits ServiceException, TransportException {
  private final String code;
  private final int status;
  private final Duration retryAfter;

  UserGroupServiceException(String code, String message, int status, Duration retryAfter, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Returns the kind of failure. */
  public final String code() {
    return code;
  }

  /** Returns the HTTP status, or 0 if there was no response. */
  public final int status() {
    return status;
  }

  /** Returns the wait that the response requests before the next attempt. */
  public final Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
