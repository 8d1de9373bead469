package usergroupservice;

/** Environment of a user group. Ids are unique within it. */
public enum Environment {
  CUSTOMER,
  TESTING
}
