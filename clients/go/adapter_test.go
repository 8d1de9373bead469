package usergroups

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// TestMain runs calls of the client for tests in another language if ADAPTER is set. It reads one JSON call per line and writes one JSON
// outcome per line. A call has the members client (its options), method and args. The outcome has result or error, and pauses, the
// pauses between attempts in seconds. They only advance the clock of the client.
func TestMain(m *testing.M) {
	if os.Getenv("ADAPTER") == "" {
		os.Exit(m.Run())
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64*1024*1024)
	adapter := adapter{clients: map[string]*Client{}}
	for lines.Scan() {
		outcome, err := json.Marshal(adapter.run(lines.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(outcome))
	}
}

type adapter struct {
	clients map[string]*Client
	pauses  []float64
}

type arguments struct {
	UserGroupID string `json:"user_group_id"`
	Name        string
	Mapping     optionalMap[string]
	Properties  optionalMap[any]

	CurrentToken       string  `json:"current_token"`
	GracePeriodSeconds float64 `json:"grace_period_seconds"`
	IdempotencyKey     string  `json:"idempotency_key"`

	Viewer           Viewer
	Narrow           *Narrowing
	Resources        []string
	ExpiresInSeconds float64 `json:"expires_in_seconds"`
	Audience         string
	Include          []string
	Claims           map[string]any
	ViewerID         string `json:"viewer_id"`

	Token    string
	Resource *string
}

// optionalMap tells null from an absent member.
type optionalMap[T any] struct {
	isNull bool
	value  map[string]T
}

func (of *optionalMap[T]) UnmarshalJSON(text []byte) error {
	of.isNull = string(text) == "null"
	return json.Unmarshal(text, &of.value)
}

func (adapter *adapter) run(line []byte) map[string]any {
	var call struct {
		Client json.RawMessage
		Method string
		Args   arguments
	}
	if err := json.Unmarshal(line, &call); err != nil {
		panic(err)
	}
	client := adapter.client(call.Client)
	adapter.pauses = []float64{}
	result, err := invoke(client, call.Method, call.Args)
	if err != nil {
		return map[string]any{"error": shown(err), "pauses": adapter.pauses}
	}
	return map[string]any{"result": result, "pauses": adapter.pauses}
}

func (adapter *adapter) client(text []byte) *Client {
	if client := adapter.clients[string(text)]; client != nil {
		return client
	}
	var options struct {
		Origin         string
		APIToken       string `json:"api_token"`
		MaxTries       int    `json:"max_tries"`
		MethodOverride bool   `json:"method_override"`
	}
	if err := json.Unmarshal(text, &options); err != nil {
		panic(err)
	}
	client, err := New(options.Origin, options.APIToken, Options{MaxTries: options.MaxTries, MethodOverride: options.MethodOverride})
	if err != nil {
		panic(err)
	}
	client.clock.now = func() time.Time {
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, pause := range adapter.pauses {
			now = now.Add(time.Duration(pause * float64(time.Second)))
		}
		return now
	}
	client.clock.sleep = func(_ context.Context, pause time.Duration) {
		adapter.pauses = append(adapter.pauses, pause.Seconds())
	}
	adapter.clients[string(text)] = client
	return client
}

func invoke(client *Client, method string, args arguments) (any, error) {
	ctx := context.Background()
	fields := Fields{
		Name: args.Name, Mapping: args.Mapping.value, Properties: args.Properties.value,
		ClearMapping: args.Mapping.isNull, ClearProperties: args.Properties.isNull,
	}
	seconds := func(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }
	switch method {
	case "get_or_create":
		return client.GetOrCreate(ctx, args.UserGroupID, fields)
	case "update":
		return client.Update(ctx, args.UserGroupID, fields)
	case "rotate":
		rotation := Rotation{GracePeriod: seconds(args.GracePeriodSeconds), IdempotencyKey: args.IdempotencyKey}
		return client.Rotate(ctx, args.CurrentToken, rotation)
	case "create_session":
		return client.CreateSession(ctx, args.UserGroupID, args.Viewer, SessionOptions{
			Narrow: args.Narrow, Resources: args.Resources, ExpiresIn: seconds(args.ExpiresInSeconds),
			Audience: args.Audience, Include: args.Include, Claims: args.Claims,
		})
	case "end_sessions":
		return nil, client.EndSessions(ctx, args.UserGroupID, args.ViewerID)
	}
	if args.Resource != nil {
		return introspected(client.IntrospectFor(ctx, args.Token, *args.Resource))
	}
	return introspected(client.Introspect(ctx, args.Token))
}

func introspected(group *Introspection, err error) (any, error) {
	if group == nil {
		return nil, err
	}
	var expires, viewer any
	if !group.TokenExpiresAt.IsZero() {
		expires = group.TokenExpiresAt
	}
	if group.Viewer != nil {
		viewer = map[string]any{
			"id": group.Viewer.ID, "name": optional(group.Viewer.Name), "properties": group.Viewer.Properties,
			"time_zone": optional(group.Viewer.TimeZone), "locale": optional(group.Viewer.Locale),
		}
	}
	return map[string]any{
		"provided_id": group.ProvidedID, "team_id": group.TeamID, "name": group.Name, "api_environment_tag": group.Environment,
		"mapping": group.Mapping, "data_sources": group.DataSources, "properties": group.Properties,
		"session_id": optional(group.SessionID), "viewer": viewer, "resources": group.Resources,
		"token_issued_at": group.TokenIssuedAt, "token_expires_at": expires,
	}, err
}

func shown(err error) map[string]any {
	var failed failure
	if !errors.As(err, &failed) {
		panic(err)
	}
	details := failed.details()
	outcome := map[string]any{
		"type": "TransportError", "code": details.Code, "message": details.Message, "status": nil, "fields": []FieldFault{},
		"retry_after_seconds": nil, "printed": fmt.Sprintf("%v %+v %#v %v", err, err, err, errors.Unwrap(err)),
	}
	if details.Status != 0 {
		outcome["status"] = details.Status
	}
	if details.RetryAfter != 0 {
		outcome["retry_after_seconds"] = details.RetryAfter.Seconds()
	}
	var refusal *ServiceError
	if errors.As(err, &refusal) {
		outcome["type"], outcome["request_id"] = "ServiceError", refusal.RequestID
		outcome["fields"] = append([]FieldFault{}, refusal.Fields...)
	}
	return outcome
}
