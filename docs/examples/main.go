// Creates a user group, updates it and rotates its token. Prints one response per line.
// Needs UGS_API_TOKEN (and UGS_URL if the service is not at http://127.0.0.1:8080) in the environment.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type object map[string]any

type result struct {
	UserGroup struct {
		Token string `json:"token"`
	} `json:"user_group"`
}

var client = &http.Client{Timeout: 10 * time.Second}

func call(method string, body object, header http.Header) (result, error) {
	var parsed result
	encoded, err := json.Marshal(body)
	if err != nil {
		return parsed, err
	}
	// A *bytes.Reader lets net/http set Content-Length, for a GET too.
	request, err := http.NewRequest(method, baseURL()+"/api/user", bytes.NewReader(encoded))
	if err != nil {
		return parsed, err
	}
	if header != nil {
		request.Header = header
	}
	request.Header.Set("Authorization", "Token "+os.Getenv("UGS_API_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return parsed, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return parsed, err
	}
	if response.StatusCode != http.StatusOK {
		return parsed, fmt.Errorf("%s: %d %s", method, response.StatusCode, text)
	}
	fmt.Println(string(text))
	return parsed, json.Unmarshal(text, &parsed)
}

func baseURL() string {
	if url := os.Getenv("UGS_URL"); url != "" {
		return url
	}
	return "http://127.0.0.1:8080"
}

func randomKey() (string, error) {
	key := make([]byte, 16)
	_, err := rand.Read(key)
	return hex.EncodeToString(key), err
}

func run() error {
	created, err := call(http.MethodGet, object{
		"user_group_id": "customer-42",
		"name":          "Example customer",
		"mapping":       object{"40": "213"},
		"properties":    object{"region": "EU"},
	}, nil)
	if err != nil {
		return err
	}
	properties := object{"region": "EU", "plan": "gold"}
	if _, err := call(http.MethodPut, object{"user_group_id": "customer-42", "properties": properties}, nil); err != nil {
		return err
	}
	key, err := randomKey()
	if err != nil {
		return err
	}
	rotation := object{"current_token": created.UserGroup.Token, "grace_period_seconds": 3600}
	_, err = call(http.MethodPost, rotation, http.Header{"Idempotency-Key": {key}})
	return err
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
