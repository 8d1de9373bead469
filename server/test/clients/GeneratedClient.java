import com.example.model.*;
import com.example.spec.*;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.*;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.jaxrs.json.JacksonJaxbJsonProvider;
import java.io.IOException;
import java.util.*;
import javax.ws.rs.ClientErrorException;
import javax.ws.rs.client.ClientRequestFilter;
import javax.ws.rs.core.Form;
import org.jboss.resteasy.client.jaxrs.*;

/** Calls the service with generated code: ORIGIN and API_TOKEN as arguments. Prints the results as JSON. */
public class GeneratedClient {
  public static void main(String[] args) throws Exception {
    // As in the generated ApiProviders, with the Optional below instead of a module of Jackson that Debian does not have.
    var optionals = new SimpleModule().addSerializer(Optional.class, new OptionalSerializer())
        .addDeserializer(Optional.class, new OptionalDeserializer(null));
    var mapper = new ObjectMapper().registerModule(optionals)
        .setSerializationInclusion(JsonInclude.Include.NON_NULL);
    var client = new ResteasyClientBuilder()
        .register(new JacksonJaxbJsonProvider(mapper, JacksonJaxbJsonProvider.DEFAULT_ANNOTATIONS))
        .register((ClientRequestFilter) request -> request.getHeaders().add("Authorization", "Token " + args[1]))
        .build();
    var service = (ResteasyWebTarget) client.target(args[0]);
    var userGroups = service.proxy(UserGroupsApiSpec.class);
    var renderer = service.proxy(RendererApiSpec.class);
    var management = service.proxy(UserGroupManagementApiSpec.class);

    var results = new LinkedHashMap<String, Object>();
    var created = userGroups.getOrCreateUserGroupByPost(
        new UserGroupBody().userGroupId("java").name("顧客").properties(Map.of("plan", "gold")));
    var teamId = created.getUserGroup().getTeamId();
    results.put("created", created.isNewUserGroup());
    results.put("properties", created.getUserGroup().getProperties());
    var updated = userGroups.updateUserGroupByPost(new UserGroupBody().userGroupId("java").name("Renamed"));
    results.put("updated", updated.getUserGroup().getName());

    var token = created.getUserGroup().getToken();
    var rotation = new RotationBody().currentToken(token);
    var rotated = userGroups.rotateUserGroupTokenByPost("key-of-java", rotation).getUserGroup().getToken();
    var retried = userGroups.rotateUserGroupTokenByPost("key-of-java", rotation).getUserGroup().getToken();
    results.put("rotated", !rotated.equals(token) && rotated.equals(retried));
    var active = renderer.introspectUserGroupToken(new Form("token", rotated));
    results.put("active", active.getActive() ? active.getSub() : null);
    results.put("superseded", renderer.introspectUserGroupToken(new Form("token", token)).getActive());
    results.put("managed", management.getUserGroup(teamId).getUserGroup().getName());
    try {
      userGroups.updateUserGroupByPost(new UserGroupBody().userGroupId("unknown"));
    } catch (ClientErrorException exception) {
      var error = exception.getResponse().readEntity(ErrorResponse.class).getError();
      results.put("error", error.getCode().value());
    }
    System.out.println(mapper.writeValueAsString(results));
  }

  private static class OptionalSerializer extends JsonSerializer<Optional> {
    @Override
    public void serialize(Optional value, JsonGenerator json, SerializerProvider provider) throws IOException {
      json.writeObject(value.orElse(null));
    }
  }

  private static class OptionalDeserializer extends JsonDeserializer<Optional> implements ContextualDeserializer {
    private final JavaType type;

    OptionalDeserializer(JavaType type) {
      this.type = type;
    }

    @Override
    public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
      return new OptionalDeserializer(context.getContextualType().containedType(0));
    }

    @Override
    public Optional deserialize(JsonParser json, DeserializationContext context) throws IOException {
      return Optional.of(context.readValue(json, type));
    }

    @Override
    public Optional getNullValue(DeserializationContext context) {
      return Optional.empty();
    }
  }
}
