package usergroups

import (
	"fmt"
	"regexp"
	"time"
)

// Failure has what both kinds of errors have.
type Failure struct {
	// Code tells the kind of failure.
	Code string
	// Message is for a person. It never holds a token.
	Message string
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// RetryAfter is the wait that the response requests before the next attempt, or 0.
	RetryAfter time.Duration
}

func (failure *Failure) Error() string { return failure.Message }

func (failure *Failure) details() *Failure { return failure }

// ServiceError is an error response of the service. The API reference lists its codes.
type ServiceError struct {
	Failure
	// RequestID identifies the request in the log of the service.
	RequestID string
	// Fields are the invalid fields, if the code is validation_failed.
	Fields []FieldFault
}

// FieldFault is an invalid field.
type FieldFault struct {
	// Path is a JSON Pointer (RFC 6901) into the request body.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// TransportError means that the service did not respond, so the operation may have taken effect. It is safe to repeat it, a rotation with
// the same idempotency key.
//
// Its codes are unreachable (no connection, or it broke), timed_out (no response in time), tls_failed (untrusted certificate, or no TLS),
// refused (a proxy responded with an error) and bad_response (not a response of the service, or a redirect).
type TransportError struct {
	Failure
	cause error
}

// Unwrap returns the error of the network, if there is one.
func (failure *TransportError) Unwrap() error { return failure.cause }

type failure interface {
	error
	details() *Failure
}

func badResponse(status int, format string, values ...any) *TransportError {
	message := fmt.Sprintf("Unexpected response: "+format+
		". Check origin, and that no login page or redirect is in front of the User Group Service.", values...)
	return &TransportError{Failure: Failure{Code: "bad_response", Message: message, Status: status}}
}

var token = regexp.MustCompile(`(?i)ug[at]_(?:customer|testing)_\w+`)

func withoutTokens(text string) string { return token.ReplaceAllString(text, "[token]") }
