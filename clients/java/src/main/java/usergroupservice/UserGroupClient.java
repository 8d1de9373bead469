package usergroupservice;

import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A client for {@code /api/user} and introspection. Threads may share one instance.
 *
 * <p>Every method throws a {@link ServiceException} if the service responds with an error, and a {@link TransportException} if it does not
 * respond. Before that, it retries within the deadline: after a failed connection, after a missing response, and after status 408, 429,
 * 500, 502, 503 and 504. It waits at least as long as {@code Retry-After} requests. It throws an {@link IllegalArgumentException} for
 * arguments that cannot be sent, and a {@link java.util.concurrent.CancellationException} if its thread is interrupted.
 */
public final class UserGroupClient {
  /** Longer strings cannot be tokens: the service issues sessions of at most 6 KiB. */
  private static final int MAX_TOKEN_LENGTH = 6 * 1024;

  private final Connection connection;

  /** Creates a client with default options. The origin is the URL of the service without {@code /api/user}. */
  public UserGroupClient(String origin, String apiToken) {
    this(builder(origin, apiToken));
  }

  private UserGroupClient(Builder options) {
    connection = new Connection(options);
  }

  public static Builder builder(String origin, String apiToken) {
    return new Builder(origin, apiToken);
  }

  /** Options of a client. */
  public static final class Builder {
    final String origin;
    final String apiToken;
    Duration deadline = Duration.ofSeconds(15);
    int maxTries = 8;
    boolean methodOverride;
    HttpClient httpClient;
    Clock clock = new Clock();

    private Builder(String origin, String apiToken) {
      this.origin = origin;
      this.apiToken = apiToken;
    }

    /** Maximum duration of a call, including retries. Default: 15 s. */
    public Builder deadline(Duration deadline) {
      this.deadline = deadline;
      return this;
    }

    /** Maximum number of attempts. Default: 8. */
    public Builder maxTries(int maxTries) {
      this.maxTries = maxTries;
      return this;
    }

    /**
     * Always sends GET and PUT as a POST with {@code X-HTTP-Method-Override}. By default, the client switches to it once a proxy does not pass
     * them.
     */
    public Builder methodOverride(boolean methodOverride) {
      this.methodOverride = methodOverride;
      return this;
    }

    /** Creates the connections, for example with a client certificate. It must not follow redirects. */
    public Builder httpClient(HttpClient httpClient) {
      this.httpClient = httpClient;
      return this;
    }

    public UserGroupClient build() {
      return new UserGroupClient(this);
    }
  }

  /** Desired state of a user group. Fields that are not set keep their values. */
  public static final class Fields {
    private final Map<String, Object> members = new LinkedHashMap<>();

    /** Required to create a user group. */
    public Fields name(String name) {
      return set("name", name);
    }

    /** Replaces the whole mapping. Null clears it. */
    public Fields mapping(Map<String, String> mapping) {
      return set("mapping", mapping);
    }

    /** Replaces all properties. Null clears them. */
    public Fields properties(Map<String, ?> properties) {
      return set("properties", properties);
    }

    private Fields set(String name, Object value) {
      members.put(name, value);
      return this;
    }
  }

  /** Options of a rotation. */
  public static final class Rotation {
    private Duration gracePeriod;
    private String idempotencyKey;

    /** Time for which the old token stays valid for viewing, in whole seconds. Default: none. */
    public Rotation gracePeriod(Duration gracePeriod) {
      this.gracePeriod = gracePeriod;
      return this;
    }

    /** With your own key you can repeat a failed rotation within 24 hours. Default: a random key for each call. */
    public Rotation idempotencyKey(String idempotencyKey) {
      if (!idempotencyKey.matches("[!-~]+"))
        throw new IllegalArgumentException("idempotencyKey must be visible ASCII characters");
      this.idempotencyKey = idempotencyKey;
      return this;
    }
  }

  /** The person inside a user group who looks. {@code id} is your own id, compared exactly. The others may be null. */
  public record Viewer(String id, String name, Map<String, ?> properties, String timeZone, String locale) {
    public Viewer(String id, String name) {
      this(id, name, null, null, null);
    }

    private Map<String, Object> members() {
      return withoutNulls("id", id, "name", name, "properties", properties, "time_zone", timeZone, "locale", locale);
    }
  }

  /** Options of a session. */
  public static final class SessionOptions {
    private final Map<String, Object> members = new LinkedHashMap<>();
    private final Map<String, Object> narrow = new LinkedHashMap<>();

    /** The values that stay of properties which are lists or single values. Default: all. */
    public SessionOptions narrowProperties(Map<String, ? extends List<?>> properties) {
      narrow.put("properties", properties);
      return set("narrow", narrow);
    }

    /** The keys of the mapping that stay. Default: all. */
    public SessionOptions narrowSchemas(List<String> schemas) {
      narrow.put("schemas", schemas);
      return set("narrow", narrow);
    }

    /** The dashboards that the session is for, by your own names. Default: all. */
    public SessionOptions resources(List<String> resources) {
      return set("resources", resources);
    }

    /** Lifetime in whole seconds. Default: 15 minutes. */
    public SessionOptions expiresIn(Duration lifetime) {
      return set("expires_in_seconds", lifetime.toSeconds());
    }

    /** The engine that verifies the token itself, as its claim {@code aud}. */
    public SessionOptions audience(String audience) {
      return set("audience", audience);
    }

    /** Members of the user group that the token itself carries, for engines that verify it themselves. */
    public SessionOptions include(List<String> include) {
      return set("include", include);
    }

    /** Other claims of the token, for engines that verify it themselves. */
    public SessionOptions claims(Map<String, ?> claims) {
      return set("claims", claims);
    }

    private SessionOptions set(String name, Object value) {
      members.put(name, value);
      return this;
    }
  }

  /** {@code token} never expires: it is for servers. {@code providedId} is your own id. */
  public record UserGroup(
      long teamId, String token, String name, String providedId, Optional<Map<String, Object>> properties) {
    @Override
    public String toString() {
      return shown(teamId, providedId);
    }
  }

  /** {@code newUserGroup} is also false if the call was retried because the response to the creation was lost. */
  public record GetOrCreateResult(boolean newUserGroup, UserGroup userGroup) {}

  public record UpdatedUserGroup(
      long teamId, String token, String name, String providedId, Optional<Map<String, Object>> properties,
      Environment environment) {
    @Override
    public String toString() {
      return shown(teamId, providedId);
    }
  }

  public record RotatedUserGroup(long teamId, String token, String name, String providedId, Environment environment) {
    @Override
    public String toString() {
      return shown(teamId, providedId);
    }
  }

  /** The session of a viewer. {@code token} is for the page that shows the dashboard. */
  public record ViewerSession(String token, String sessionId, Instant expiresAt, long expiresInSeconds) {
    @Override
    public String toString() {
      return "session " + sessionId;
    }
  }

  public record Schema(long id, String providedId) {}

  /** A registered data source that a mapping names. */
  public record DataSource(long id, String providedId, String name, Schema schema) {}

  /**
   * The user group of an active user group token or session. {@code dataSources} are the registered data sources by mapping key.
   * {@code sessionId} and {@code viewer} are those of a session, {@code resources} the only dashboards that it is for, and
   * {@code tokenExpiresAt} is absent for the current user group token.
   */
  public record Introspection(
      String providedId, long teamId, String name, Environment environment, Optional<Map<String, String>> mapping,
      Map<String, DataSource> dataSources, Optional<Map<String, Object>> properties, Optional<String> sessionId,
      Optional<Viewer> viewer, Optional<List<String>> resources, Instant tokenIssuedAt, Optional<Instant> tokenExpiresAt) {}

  /** Creates the user group or updates it to match the fields. The token never changes. */
  public GetOrCreateResult getOrCreate(String userGroupId, Fields fields) {
    var response = send("GET", "", withId(userGroupId, fields.members), null);
    var group = response.object("user_group");
    return new GetOrCreateResult(response.flag("new_user_group"), new UserGroup(
        group.count("team_id"), group.text("token"), group.text("name"), group.text("provided_id"),
        group.objectOrNull("properties")));
  }

  /** Updates an existing user group. A retry after a lost response overwrites changes that others made in between. */
  public UpdatedUserGroup update(String userGroupId, Fields fields) {
    var group = send("PUT", "", withId(userGroupId, fields.members), null).object("user_group");
    return new UpdatedUserGroup(
        group.count("team_id"), group.text("token"), group.text("name"), group.text("provided_id"),
        group.objectOrNull("properties"), group.environment());
  }

  /** Replaces the token of a user group. The old one stops at once. Retries never rotate a second time. */
  public RotatedUserGroup rotate(String currentToken) {
    return rotate(currentToken, new Rotation());
  }

  /** Replaces the token of a user group. The old one stops at once, or after the grace period. */
  public RotatedUserGroup rotate(String currentToken, Rotation rotation) {
    var period = rotation.gracePeriod == null ? null : rotation.gracePeriod.toSeconds();
    var key = rotation.idempotencyKey == null ? UUID.randomUUID().toString() : rotation.idempotencyKey;
    var body = withoutNulls("current_token", currentToken, "grace_period_seconds", period);
    var group = send("POST", "", body, key).object("user_group");
    return new RotatedUserGroup(
        group.count("team_id"), group.text("token"), group.text("name"), group.text("provided_id"), group.environment());
  }

  /** Creates a session: a short-lived token of one viewer, for the page that shows the dashboard. */
  public ViewerSession createSession(String userGroupId, Viewer viewer) {
    return createSession(userGroupId, viewer, new SessionOptions());
  }

  /** Creates a session that sees less than its user group, or with other options. */
  public ViewerSession createSession(String userGroupId, Viewer viewer, SessionOptions options) {
    var body = withId(userGroupId, Map.of("viewer", viewer.members()));
    body.putAll(options.members);
    var session = send("POST", "/create-session", body, null).object("session");
    return new ViewerSession(
        session.text("token"), session.text("session_id"), session.time("expires_at"), session.count("expires_in_seconds"));
  }

  /** Ends the sessions of all viewers of a user group. A retry also ends sessions that were created in between. */
  public void endSessions(String userGroupId) {
    endSessions(userGroupId, null);
  }

  /** Ends the sessions of one viewer. Create the next one a second later. */
  public void endSessions(String userGroupId, String viewerId) {
    var body = withoutNulls("user_group_id", userGroupId, "viewer_id", viewerId);
    send("POST", "/end-sessions", body, null);
  }

  /**
   * Returns the user group of a user group token or session, or nothing for an inactive token. The API token needs the scope
   * {@code introspect}. Refuse all dashboards that are not in the {@code resources} of the result, or pass the one that is shown.
   */
  public Optional<Introspection> introspect(String token) {
    return token == null ? Optional.empty() : introspectForm(token, "");
  }

  /** Same, for the dashboard that is shown, by your own name. A session for others is inactive. */
  public Optional<Introspection> introspect(String token, String resource) {
    if (token == null || resource == null || resource.isEmpty()) return Optional.empty();
    return introspectForm(token, "&resource=" + encoded(resource));
  }

  private Optional<Introspection> introspectForm(String token, String more) {
    if (token.isEmpty() || token.length() > MAX_TOKEN_LENGTH) return Optional.empty();
    var response = Results.of(connection.execute(new Connection.Operation(
        "POST", "/oauth2/introspect", "application/x-www-form-urlencoded", "token=" + encoded(token) + more, null, false)));
    if (response.isOnly("active", false)) return Optional.empty();
    var isSession = "viewer_session".equals(response.text("token_type"));
    if (!response.flag("active") || !isSession && !"user_group".equals(response.text("token_type")))
      throw TransportException.badResponse("it is not an introspection", 200);
    var sources = new LinkedHashMap<String, DataSource>();
    var named = response.object("data_sources");
    named.names().forEach(key -> sources.put(key, dataSource(named.object(key))));
    return Optional.of(new Introspection(
        response.text("sub"), response.count("team_id"), response.text("name"), response.environment(),
        response.textByKey("mapping"), sources, response.objectOrNull("properties"),
        isSession ? Optional.of(response.text("jti")) : Optional.empty(),
        isSession ? Optional.of(viewer(response.object("viewer"))) : Optional.empty(),
        isSession && response.has("resources") ? Optional.of(response.texts("resources")) : Optional.empty(),
        response.unixTime("iat"),
        isSession || response.has("exp") ? Optional.of(response.unixTime("exp")) : Optional.empty()));
  }

  private static DataSource dataSource(Results source) {
    var schema = source.object("schema");
    return new DataSource(source.count("id"), source.text("provided_id"), source.text("name"),
        new Schema(schema.count("id"), schema.text("provided_id")));
  }

  private static Viewer viewer(Results viewer) {
    return new Viewer(viewer.text("id"), viewer.textOrNull("name"),
        viewer.has("properties") ? viewer.objectOrNull("properties").orElse(null) : null,
        viewer.textOrNull("time_zone"), viewer.textOrNull("locale"));
  }

  private Results send(String method, String path, Map<String, ?> body, String idempotencyKey) {
    return Results.ofSuccess(connection.execute(new Connection.Operation(
        method, "/api/user" + path, "application/json", Json.write(body), idempotencyKey, !method.equals("POST"))));
  }

  private static Map<String, Object> withId(String userGroupId, Map<String, ?> members) {
    var body = new LinkedHashMap<String, Object>();
    body.put("user_group_id", userGroupId);
    body.putAll(members);
    return body;
  }

  /** Returns the members of which names and values alternate. */
  private static Map<String, Object> withoutNulls(Object... namesAndValues) {
    var members = new LinkedHashMap<String, Object>();
    for (var i = 0; i < namesAndValues.length; i += 2)
      if (namesAndValues[i + 1] != null) members.put((String) namesAndValues[i], namesAndValues[i + 1]);
    return members;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String shown(long teamId, String providedId) {
    return "user group " + providedId + " (" + teamId + ")";
  }
}
