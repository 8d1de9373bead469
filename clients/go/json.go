package usergroups

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// object is a JSON object. Members whose value is nil are not written.
type object []member

type member struct {
	name  string
	value any
}

// clear is the JSON null.
var clear = json.RawMessage("null")

func (members object) MarshalJSON() ([]byte, error) {
	var buffer bytes.Buffer
	for _, member := range members {
		if isNil(member.value) {
			continue
		}
		value, err := json.Marshal(member.value)
		if err != nil {
			return nil, err
		}
		buffer.WriteString(`,"` + member.name + `":`)
		buffer.Write(value)
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(buffer.Bytes(), []byte{','})...), '}'), nil
}

func isNil(value any) bool {
	switch of := reflect.ValueOf(value); of.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return of.IsNil()
	}
	return false
}

func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func seconds(duration time.Duration) any {
	if duration == 0 {
		return nil
	}
	return duration.Seconds()
}

// Go writes this escape, and not the character, in place of bytes that are not UTF-8.
var replaced = regexp.MustCompile(`[^\\](\\\\)*\\ufffd`)

func encode(members []member) ([]byte, error) {
	body, err := json.Marshal(object(members))
	if err == nil && replaced.Match(body) {
		err = errors.New("a string is not UTF-8")
	}
	if err != nil {
		// Not wrapped: the message may hold a value.
		return nil, errors.New("usergroups: a field cannot be represented in JSON")
	}
	return body, nil
}

// decode reads JSON into a value with all members that its type has, except those with omitempty. Strings must not be empty.
func decode[T any](body []byte) (T, bool) {
	var value T
	var raw any
	isValid := utf8.Valid(body) && json.Unmarshal(body, &raw) == nil && has(reflect.TypeOf(value), raw)
	return value, isValid && json.Unmarshal(body, &value) == nil
}

func has(kind reflect.Type, raw any) bool {
	switch {
	case kind == reflect.TypeOf(Environment("")):
		return raw == "Customer" || raw == "Testing"
	case kind == reflect.TypeOf(time.Time{}):
		return raw != nil
	case kind.Kind() == reflect.Struct:
		members, isObject := raw.(map[string]any)
		return isObject && hasFields(kind, members)
	case kind.Kind() == reflect.Map:
		members, isObject := raw.(map[string]any)
		for _, member := range members {
			if kind.Elem().Kind() != reflect.Interface && !has(kind.Elem(), member) {
				return false
			}
		}
		return isObject || raw == nil
	case kind.Kind() == reflect.Slice:
		items, isList := raw.([]any)
		for _, item := range items {
			if !has(kind.Elem(), item) {
				return false
			}
		}
		return isList
	case kind.Kind() == reflect.Pointer:
		return has(kind.Elem(), raw)
	case kind.Kind() == reflect.String:
		return raw != "" && raw != nil
	case kind.Kind() == reflect.Int64:
		number, isNumber := raw.(float64)
		return isNumber && number >= 0
	}
	return raw != nil
}

func hasFields(kind reflect.Type, members map[string]any) bool {
	for i := 0; i < kind.NumField(); i++ {
		field := kind.Field(i)
		if field.Anonymous {
			if !hasFields(field.Type, members) {
				return false
			}
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, isThere := members[name]
		if options == "omitempty" && (!isThere || value == "") {
			continue
		}
		if !isThere || !has(field.Type, value) {
			return false
		}
	}
	return true
}
