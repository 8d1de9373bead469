package usergroupservice;

import java.time.Duration;

/**
 * The service did not respond, so the operation may have taken effect. It is safe to repeat it, a rotation with the same idempotency key.
 *
 * <p>The codes are {@code unreachable} (no connection, or it broke), {@code timed_out} (no response in time), {@code tls_failed}
 * (untrusted certificate, or no TLS), {@code refused} (a proxy responded with an error) and {@code bad_response} (not a response of the
 * service, or a redirect).
 */
public final class TransportException extends UserGroupServiceException {
  TransportException(String code, String message, int status, Duration retryAfter, Throwable cause) {
    super(code, message, status, retryAfter, cause);
  }

  static TransportException badResponse(String detail, int status) {
    var message = "Unexpected response: " + detail
        + ". Check origin, and that no login page or redirect is in front of the User Group Service.";
    return new TransportException("bad_response", message, status, null, null);
  }
}
