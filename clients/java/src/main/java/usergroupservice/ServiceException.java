package usergroupservice;

import java.time.Duration;
import java.util.List;

/** The service responded that the operation failed. The API reference lists its codes. */
public final class ServiceException extends UserGroupServiceException {
  private final String requestId;
  private final List<FieldFault> fields;

  /** An invalid field: its JSON Pointer (RFC 6901) in the request body, and the reason. */
  public record FieldFault(String path, String message) {}

  ServiceException(String code, String message, int status, Duration retryAfter, String requestId, List<FieldFault> fields) {
    super(code, message, status, retryAfter, null);
    this.requestId = requestId;
    this.fields = List.copyOf(fields);
  }

  /** Returns what identifies the request in the log of the service. */
  public String requestId() {
    return requestId;
  }

  /** Returns the invalid fields, if the code is {@code validation_failed}. */
  public List<FieldFault> fields() {
    return fields;
  }
}
