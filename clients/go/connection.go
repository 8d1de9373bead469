package usergroups

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// initialDelay is the longest pause before the second attempt. It doubles with each attempt, up to maxDelay.
	initialDelay = 100 * time.Millisecond
	maxDelay     = 2 * time.Second
	// maxResponseBytes is far above a response with one user group of the largest properties and mapping.
	maxResponseBytes = 8 * 1024 * 1024
)

var visibleASCII = regexp.MustCompile(`^[!-~]+$`)

// refusals are methods that a proxy may refuse, with the statuses that proxies use for it. The service accepts them as a POST with
// X-HTTP-Method-Override, too. Both forms are the same operation, so sending the second is safe.
var refusals = map[string][]int{"GET": {400, 403, 405, 411, 413, 501}, "PUT": {403, 405, 501}}

var retryableStatuses = []int{408, 429, 500, 502, 503, 504}

// codeOfStatus has the codes of the OAuth endpoints, whose errors have no code of the service.
var codeOfStatus = map[int]string{
	401: "unauthenticated", 403: "forbidden", 408: "request_timeout", 413: "body_too_large", 415: "unsupported_media_type",
	429: "rate_limited", 500: "internal", 503: "unavailable",
}

// Options has defaults for all fields.
type Options struct {
	// Deadline is the maximum duration of a call, including retries. The default is 15 s. The context of a call can shorten it.
	Deadline time.Duration
	// MaxTries is the maximum number of attempts. The default is 8.
	MaxTries int
	// MethodOverride always sends GET and PUT as a POST with X-HTTP-Method-Override. By default, the client switches to it once a proxy does
	// not pass them.
	MethodOverride bool
	// Transport creates the connections, for example with a client certificate. The default keeps connections alive.
	Transport http.RoundTripper
}

// Client is a client for /api/user and introspection with one API token. Goroutines may share it.
//
// Every method returns a *ServiceError if the service responds with an error, a *TransportError if it does not respond, and the error of
// the context if that is canceled. Before that, it retries within the deadline: after a failed connection, after a missing response, and
// after status 408, 429, 500, 502, 503 and 504. It waits at least as long as Retry-After requests.
type Client struct {
	origin     *url.URL
	apiToken   string
	options    Options
	http       http.Client
	clock      clock
	mutex      sync.Mutex
	overridden map[string]bool
}

type clock struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration)
}

// New creates a client. The origin is the URL of the service without /api/user. The API token determines workspace and environment.
func New(origin, apiToken string, options Options) (*Client, error) {
	parsed, err := url.Parse(origin)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil ||
		parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errors.New("usergroups: origin must be an http or https URL without user, password or query")
	}
	if !visibleASCII.MatchString(apiToken) {
		return nil, errors.New("usergroups: apiToken must be only the API token: visible ASCII characters without white space")
	}
	if options.Deadline < 0 || options.MaxTries < 0 {
		return nil, errors.New("usergroups: Deadline and MaxTries must not be negative")
	}
	if options.Deadline == 0 {
		options.Deadline = 15 * time.Second
	}
	if options.MaxTries == 0 {
		options.MaxTries = 8
	}
	if options.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		// A proxy may have dropped older connections without notice.
		transport.IdleConnTimeout = 30 * time.Second
		transport.MaxIdleConnsPerHost = 32
		options.Transport = transport
	}
	overridden := map[string]bool{"GET": options.MethodOverride, "PUT": options.MethodOverride}
	doNotFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		origin: parsed, apiToken: apiToken, options: options, overridden: overridden,
		http:  http.Client{Transport: options.Transport, CheckRedirect: doNotFollow},
		clock: clock{time.Now, sleep},
	}, nil
}

// String hides the API token.
func (client *Client) String() string { return "client of " + client.origin.Host }

// GoString hides the API token.
func (client *Client) GoString() string { return client.String() }

type operation struct {
	method         string
	path           string
	contentType    string
	idempotencyKey string
	body           []byte
	hasOverride    bool
}

type successful struct {
	Success int64 `json:"success"`
}

// send executes an operation of /api/user.
func send[T any](ctx context.Context, client *Client, operation operation, body []member) (T, error) {
	var result T
	var err error
	operation.path = "/api/user" + operation.path
	operation.contentType = "application/json"
	if operation.body, err = encode(body); err != nil {
		return result, err
	}
	text, err := client.execute(ctx, operation)
	if err != nil {
		return result, err
	}
	head, isSuccess := decode[successful](text)
	result, isValid := decode[T](text)
	if !isSuccess || head.Success != 1 || !isValid {
		return result, badResponse(200, "a member is missing or invalid")
	}
	return result, nil
}

// execute returns the body of a successful response. It retries within the deadline while the failure may be temporary.
func (client *Client) execute(ctx context.Context, operation operation) ([]byte, error) {
	deadline := client.clock.now().Add(client.options.Deadline)
	if end, isSet := ctx.Deadline(); isSet && time.Until(end) < client.options.Deadline {
		deadline = client.clock.now().Add(time.Until(end))
	}
	isLast := client.options.MaxTries == 1
	for attempt := 1; ; attempt++ {
		remaining := deadline.Sub(client.clock.now())
		if !isLast {
			// Half of it, so that one missing response leaves time for another attempt.
			remaining /= 2
		}
		body, err := client.attempt(ctx, operation, remaining)
		if err == nil {
			return body, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		var failed failure
		if !errors.As(err, &failed) || isLast || !isRetryable(failed) {
			return nil, err
		}
		// A slow service gets only one more attempt.
		isLast = attempt == client.options.MaxTries-1 || failed.details().Code == "timed_out"
		delay := retryDelay(attempt) + failed.details().RetryAfter
		if !client.clock.now().Add(delay).Before(deadline) {
			return nil, err
		}
		client.clock.sleep(ctx, delay)
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		if !client.clock.now().Before(deadline) {
			return nil, err
		}
	}
}

// attempt sends the operation. If a proxy does not pass the method, it sends the operation again with the override header.
func (client *Client) attempt(ctx context.Context, operation operation, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	method := operation.method
	if !operation.hasOverride {
		return client.exchange(ctx, operation, method)
	}
	client.mutex.Lock()
	isOverridden := client.overridden[method]
	client.mutex.Unlock()
	if !isOverridden {
		body, err := client.exchange(ctx, operation, method)
		if !needsOverride(method, err) {
			return body, err
		}
	}
	body, err := client.exchange(ctx, operation, "POST")
	var refusal *ServiceError
	// An error of the service proves that the request got through.
	if err == nil || errors.As(err, &refusal) {
		client.mutex.Lock()
		client.overridden[method] = true
		client.mutex.Unlock()
	}
	return body, err
}

// exchange sends one HTTP request and reads the response.
func (client *Client) exchange(ctx context.Context, operation operation, method string) ([]byte, error) {
	target := *client.origin
	target.Path = strings.TrimRight(target.Path, "/") + operation.path
	request, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(operation.body))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"User-Agent":    {"user-group-service-go/" + version},
		"Authorization": {"Token " + client.apiToken},
		"Accept":        {"application/json"},
		"Content-Type":  {operation.contentType},
	}
	if operation.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", operation.idempotencyKey)
	}
	if method != operation.method {
		request.Header.Set("X-HTTP-Method-Override", operation.method)
	}
	response, err := client.http.Do(request)
	if err != nil {
		return nil, client.transportError(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	if err != nil {
		return nil, client.transportError(ctx, err)
	}
	return client.read(response, method, body)
}

// read returns the body of a successful response.
func (client *Client) read(response *http.Response, method string, body []byte) ([]byte, error) {
	status := response.StatusCode
	isTooLong := len(body) > maxResponseBytes
	if status >= 400 {
		retryAfter := readRetryAfter(response.Header.Get("Retry-After"), client.clock.now())
		if err := serviceError(body, status, retryAfter); err != nil && !isTooLong {
			return nil, err
		}
		message := fmt.Sprintf("A proxy in front of the User Group Service refused %s with status %d. "+
			"Check origin, and that the proxies on the way pass %s.", method, status, method)
		return nil, &TransportError{Failure: Failure{"refused", message, status, retryAfter}}
	}
	if status != 200 {
		return nil, badResponse(status, "its status is %d", status)
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "application/json" {
		return nil, badResponse(status, "its Content-Type is not application/json")
	}
	if isTooLong {
		return nil, badResponse(status, "it is too long")
	}
	return body, nil
}

// serviceError returns the error of the service, that of an OAuth endpoint in the form of the others. It returns nil for another body.
func serviceError(body []byte, status int, retryAfter time.Duration) error {
	type fields struct {
		Code      string       `json:"code"`
		Message   string       `json:"message"`
		RequestID string       `json:"request_id"`
		Fields    []FieldFault `json:"fields,omitempty"`
	}
	type serviceResponse struct {
		Success int64  `json:"success"`
		Error   fields `json:"error"`
	}
	type oauthResponse struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		RequestID   string `json:"request_id"`
	}
	failed, isService := decode[serviceResponse](withoutTokensIn(body))
	if !isService || failed.Success != 0 {
		oauth, isOAuth := decode[oauthResponse](withoutTokensIn(body))
		if !isOAuth {
			return nil
		}
		code, isKnown := codeOfStatus[status]
		if !isKnown {
			code = "validation_failed"
		}
		failed.Error = fields{Code: code, Message: oauth.Description, RequestID: oauth.RequestID}
	}
	return &ServiceError{
		Failure{failed.Error.Code, failed.Error.Message, status, retryAfter}, failed.Error.RequestID, failed.Error.Fields,
	}
}

func withoutTokensIn(body []byte) []byte {
	if !json.Valid(body) {
		return nil
	}
	return []byte(withoutTokens(string(body)))
}

// transportError converts an error of the network. Errors that quote received bytes, which may hold a token, are dropped.
func (client *Client) transportError(ctx context.Context, err error) error {
	origin := client.origin.Scheme + "://" + client.origin.Host
	failed := func(code, format string, values ...any) error {
		return &TransportError{Failure{Code: code, Message: fmt.Sprintf(format, values...)}, err}
	}
	if ctx.Err() != nil {
		return failed("timed_out",
			"No response from the User Group Service at %s in time. Check the service, or raise Deadline.", origin)
	}
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		err = ofURL.Err
	}
	var ofTLS tls.RecordHeaderError
	text := err.Error()
	switch {
	case errors.As(err, &ofTLS) || strings.Contains(text, "x509: ") || strings.Contains(text, "tls: ") ||
		strings.Contains(text, "HTTP response to HTTPS client"):
		return failed("tls_failed", "No secure connection to %s (%s). Check origin and its certificate.", origin, text)
	case isNotHTTP(text):
		return badResponse(0, "it is not HTTP")
	}
	reason := "connection failed"
	var ofNetwork net.Error
	if errors.As(err, &ofNetwork) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		reason = text
	}
	return failed("unreachable",
		"Cannot reach the User Group Service at %s (%s). Check origin, and that the service is running.", origin, reason)
}

// isNotHTTP returns whether an error of net/http says that a response is not HTTP. A response that ends too early is "malformed" too, in
// a header or after the beginning of "HTTP/1.1".
func isNotHTTP(text string) bool {
	_, begin, isMalformed := strings.Cut(text, `malformed HTTP response "`)
	begin, _, _ = strings.Cut(begin, `"`)
	return isMalformed && !strings.HasPrefix("HTTP/1.1", begin) && !strings.HasPrefix(begin, "HTTP/1.1")
}

func isRetryable(failed failure) bool {
	details := failed.details()
	if _, isService := failed.(*ServiceError); isService {
		return contains(retryableStatuses, details.Status) || details.Code == "idempotency_key_in_use"
	}
	return details.Code == "unreachable" || details.Code == "timed_out" ||
		details.Code == "refused" && contains(retryableStatuses, details.Status)
}

// needsOverride returns true if a proxy probably refused the method, or dropped the body because of it.
func needsOverride(method string, err error) bool {
	var failed failure
	if !errors.As(err, &failed) {
		return false
	}
	if _, isService := failed.(*ServiceError); isService {
		return failed.details().Code == "body_required"
	}
	return failed.details().Code == "refused" && contains(refusals[method], failed.details().Status)
}

func contains(numbers []int, number int) bool {
	for _, one := range numbers {
		if one == number {
			return true
		}
	}
	return false
}

// retryDelay returns the pause after this many attempts. It is random, so that clients do not retry in step.
func retryDelay(attempts int) time.Duration {
	longest := maxDelay
	if attempts < 6 {
		longest = initialDelay << (attempts - 1)
	}
	half := int64(longest / 2)
	random, err := rand.Int(rand.Reader, big.NewInt(half))
	if err != nil {
		panic(err)
	}
	return time.Duration(half + random.Int64())
}

// readRetryAfter returns the wait. Retry-After is a number of seconds or a date (RFC 9110, section 10.2.3).
func readRetryAfter(header string, now time.Time) time.Duration {
	if number, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(number) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}

func sleep(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
