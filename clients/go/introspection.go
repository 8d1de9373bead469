package usergroups

import (
	"context"
	"net/url"
	"time"
)

// Longer strings cannot be tokens: the service issues sessions of at most 6 KiB.
const maxTokenLength = 6 * 1024

// maxUnixTime is the end of the year 9999.
const maxUnixTime = 253_402_300_799

type activeToken struct {
	Active      bool                  `json:"active"`
	TokenType   string                `json:"token_type"`
	Sub         string                `json:"sub"`
	Iat         int64                 `json:"iat"`
	Exp         int64                 `json:"exp,omitempty"`
	Jti         string                `json:"jti,omitempty"`
	TeamID      int64                 `json:"team_id"`
	Name        string                `json:"name"`
	Environment Environment           `json:"api_environment_tag"`
	Mapping     map[string]string     `json:"mapping"`
	DataSources map[string]DataSource `json:"data_sources"`
	Properties  map[string]any        `json:"properties"`
	Viewer      *Viewer               `json:"viewer,omitempty"`
	Resources   []string              `json:"resources,omitempty"`
}

func (client *Client) introspect(ctx context.Context, form url.Values) (*Introspection, error) {
	if token := form.Get("token"); token == "" || len(token) > maxTokenLength {
		return nil, nil
	}
	body, err := client.execute(ctx, operation{
		method: "POST", path: "/oauth2/introspect", contentType: "application/x-www-form-urlencoded", body: []byte(form.Encode()),
	})
	if err != nil {
		return nil, err
	}
	if inactive, isValid := decode[map[string]any](body); isValid && len(inactive) == 1 && inactive["active"] == false {
		return nil, nil
	}
	token, isValid := decode[activeToken](body)
	isSession := token.TokenType == "viewer_session"
	isComplete := isSession && token.Exp > 0 && token.Jti != "" && token.Viewer != nil ||
		token.TokenType == "user_group" && token.Viewer == nil
	if !isValid || !token.Active || !isComplete || token.Iat > maxUnixTime || token.Exp > maxUnixTime {
		return nil, badResponse(200, "it is not an introspection")
	}
	introspection := &Introspection{
		ProvidedID: token.Sub, TeamID: token.TeamID, Name: token.Name, Environment: token.Environment,
		Mapping: token.Mapping, DataSources: token.DataSources, Properties: token.Properties,
		SessionID: token.Jti, Viewer: token.Viewer, Resources: token.Resources, TokenIssuedAt: time.Unix(token.Iat, 0),
	}
	if token.Exp > 0 {
		introspection.TokenExpiresAt = time.Unix(token.Exp, 0)
	}
	return introspection, nil
}
