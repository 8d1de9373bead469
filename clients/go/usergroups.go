// Package usergroups is a client of the User Group Service, for backends.
package usergroups

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"time"
)

// Fields is the desired state of a user group. Fields with their zero value are not sent and keep their values.
type Fields struct {
	// Name is required to create a user group.
	Name string
	// Mapping replaces the whole mapping. An empty one that is not nil clears it.
	Mapping map[string]string
	// Properties replaces all properties.
	Properties map[string]any
	// ClearMapping removes the mapping.
	ClearMapping bool
	// ClearProperties removes the properties.
	ClearProperties bool
}

// Identity is what every response about a user group has. Printed with %v, it shows no token.
type Identity struct {
	TeamID int64 `json:"team_id"`
	// Token never expires: it is for servers. Pages get a session.
	Token string `json:"token"`
	Name  string `json:"name"`
	// ProvidedID is your own id.
	ProvidedID string `json:"provided_id"`
}

func (group Identity) String() string {
	return fmt.Sprintf("user group %q (%d)", group.ProvidedID, group.TeamID)
}

// Environment is Customer or Testing.
type Environment string

type UserGroup struct {
	Identity
	// Properties are nil if there are none.
	Properties map[string]any `json:"properties"`
}

type GetOrCreateResult struct {
	// NewUserGroup is true if this call created the user group, and false if its retry did after a lost response.
	NewUserGroup bool      `json:"new_user_group"`
	UserGroup    UserGroup `json:"user_group"`
}

type UpdatedUserGroup struct {
	UserGroup
	Environment Environment `json:"api_environment_tag"`
}

type RotatedUserGroup struct {
	Identity
	Environment Environment `json:"api_environment_tag"`
}

// Viewer is the person inside a user group who looks.
type Viewer struct {
	// ID is your own id of the person, compared exactly.
	ID         string         `json:"id"`
	Name       string         `json:"name,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
	// TimeZone is a name of the IANA time zone database.
	TimeZone string `json:"time_zone,omitempty"`
	// Locale is a language tag (BCP 47).
	Locale string `json:"locale,omitempty"`
}

// Narrowing is the part of the user group that a session leaves.
type Narrowing struct {
	// Properties are the values that stay of properties which are lists or single values.
	Properties map[string][]any
	// Schemas are the keys of the mapping that stay. If it is nil, all stay.
	Schemas []string
}

// SessionOptions has defaults for all fields.
type SessionOptions struct {
	Narrow *Narrowing
	// Resources are the dashboards that the session is for, by your own names. If it is nil, the session is for all.
	Resources []string
	// ExpiresIn is the lifetime in whole seconds. The default is 15 minutes.
	ExpiresIn time.Duration
	// Audience, Include and Claims are for engines that verify the token themselves.
	Audience string
	Include  []string
	Claims   map[string]any
}

// Session is the session of a viewer. Printed with %v, it shows no token.
type Session struct {
	// Token is for the page that shows the dashboard.
	Token            string    `json:"token"`
	SessionID        string    `json:"session_id"`
	ExpiresAt        time.Time `json:"expires_at"`
	ExpiresInSeconds int64     `json:"expires_in_seconds"`
}

func (session Session) String() string { return fmt.Sprintf("session %q", session.SessionID) }

// Rotation has defaults for all fields.
type Rotation struct {
	// GracePeriod is the time for which the old token stays valid for viewing, in whole seconds.
	GracePeriod time.Duration
	// IdempotencyKey lets you repeat a failed rotation within 24 hours. The default is a random key for each call.
	IdempotencyKey string
}

type Schema struct {
	ID         int64  `json:"id"`
	ProvidedID string `json:"provided_id"`
}

// DataSource is a registered data source that a mapping names.
type DataSource struct {
	ID         int64  `json:"id"`
	ProvidedID string `json:"provided_id"`
	Name       string `json:"name"`
	Schema     Schema `json:"schema"`
}

// Introspection is the user group of an active user group token or session.
type Introspection struct {
	ProvidedID  string
	TeamID      int64
	Name        string
	Environment Environment
	Mapping     map[string]string
	// DataSources are the registered data sources by mapping key.
	DataSources map[string]DataSource
	Properties  map[string]any
	// SessionID, Viewer and Resources are those of a session.
	SessionID string
	Viewer    *Viewer
	// Resources are the only dashboards that the session is for. If it is nil, the token is for all.
	Resources     []string
	TokenIssuedAt time.Time
	// TokenExpiresAt is zero for the current user group token.
	TokenExpiresAt time.Time
}

// GetOrCreate creates the user group or updates it to match the fields. The token never changes.
func (client *Client) GetOrCreate(ctx context.Context, userGroupID string, fields Fields) (GetOrCreateResult, error) {
	return send[GetOrCreateResult](ctx, client, operation{method: "GET", hasOverride: true}, fields.members(userGroupID))
}

// Update updates an existing user group. A retry after a lost response overwrites changes that others made in between.
func (client *Client) Update(ctx context.Context, userGroupID string, fields Fields) (UpdatedUserGroup, error) {
	type response struct {
		UserGroup UpdatedUserGroup `json:"user_group"`
	}
	result, err := send[response](ctx, client, operation{method: "PUT", hasOverride: true}, fields.members(userGroupID))
	return result.UserGroup, err
}

// Rotate replaces the token of a user group. The old one stops at once, or after the grace period. Retries never rotate a second time.
func (client *Client) Rotate(ctx context.Context, currentToken string, rotation Rotation) (RotatedUserGroup, error) {
	type response struct {
		UserGroup RotatedUserGroup `json:"user_group"`
	}
	key := rotation.IdempotencyKey
	if key == "" {
		key = NewIdempotencyKey()
	} else if !visibleASCII.MatchString(key) {
		return RotatedUserGroup{}, fmt.Errorf("usergroups: IdempotencyKey must be visible ASCII characters")
	}
	body := []member{{"current_token", currentToken}, {"grace_period_seconds", seconds(rotation.GracePeriod)}}
	result, err := send[response](ctx, client, operation{method: "POST", idempotencyKey: key}, body)
	return result.UserGroup, err
}

// CreateSession creates a session: a short-lived token of one viewer, for the page that shows the dashboard.
func (client *Client) CreateSession(
	ctx context.Context, userGroupID string, viewer Viewer, options SessionOptions,
) (Session, error) {
	type response struct {
		Session Session `json:"session"`
	}
	var narrow any
	if options.Narrow != nil {
		narrow = object{{"properties", options.Narrow.Properties}, {"schemas", options.Narrow.Schemas}}
	}
	body := []member{
		{"user_group_id", userGroupID},
		{"viewer", viewer},
		{"narrow", narrow},
		{"resources", options.Resources},
		{"expires_in_seconds", seconds(options.ExpiresIn)},
		{"audience", optional(options.Audience)},
		{"include", options.Include},
		{"claims", options.Claims},
	}
	result, err := send[response](ctx, client, operation{method: "POST", path: "/create-session"}, body)
	return result.Session, err
}

// EndSessions ends the sessions of one viewer, or with an empty viewerID those of all viewers. Create the next session of the viewer a
// second later. A retry also ends sessions that were created in between.
func (client *Client) EndSessions(ctx context.Context, userGroupID, viewerID string) error {
	body := []member{{"user_group_id", userGroupID}, {"viewer_id", optional(viewerID)}}
	_, err := send[struct{}](ctx, client, operation{method: "POST", path: "/end-sessions"}, body)
	return err
}

// Introspect returns the user group of a user group token or session, or nil for an inactive token. The API token needs the scope
// introspect. Refuse all dashboards that are not in the Resources of the result, or use IntrospectFor.
func (client *Client) Introspect(ctx context.Context, token string) (*Introspection, error) {
	return client.introspect(ctx, url.Values{"token": {token}})
}

// IntrospectFor is Introspect for the dashboard that is shown, by your own name. A session for others is inactive.
func (client *Client) IntrospectFor(ctx context.Context, token, resource string) (*Introspection, error) {
	if resource == "" {
		return nil, nil
	}
	return client.introspect(ctx, url.Values{"token": {token}, "resource": {resource}})
}

func (fields Fields) members(userGroupID string) []member {
	members := []member{
		{"user_group_id", userGroupID},
		{"name", optional(fields.Name)},
		{"mapping", fields.Mapping},
		{"properties", fields.Properties},
	}
	if fields.ClearMapping {
		members[2].value = clear
	}
	if fields.ClearProperties {
		members[3].value = clear
	}
	return members
}

// NewIdempotencyKey returns a random UUID.
func NewIdempotencyKey() string {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		panic(err)
	}
	key[6], key[8] = key[6]&0x0f|0x40, key[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", key[:4], key[4:6], key[6:8], key[8:10], key[10:])
}
