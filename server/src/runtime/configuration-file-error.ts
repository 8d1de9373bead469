/** A configuration file cannot be read or is not valid. */
export class ConfigurationFileError extends Error {
  override readonly name = 'ConfigurationFileError'
}
