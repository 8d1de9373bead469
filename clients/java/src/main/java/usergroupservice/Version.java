package usergroupservice;

final class Version {
  static final String VERSION = "1.0.0-rc.1";

  private Version() {}
}
