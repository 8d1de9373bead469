/** Notation of an exact comparison: that of an expression's text, code point by code point. */
export interface Exactness {
  /** Returns the text of an expression, with a collation that merges no texts. */
  readonly textOf: (expression: string) => string
  /** Returns the value to compare it with. By default the placeholder. */
  readonly value?: (placeholder: string) => string
  /** Returns the texts of an array column for `= ANY( … )`, with the same collation. Set if the comparison can be exact. */
  readonly elementsOf?: (expression: string) => string
  /** Returns the array of values, if an array is one value. */
  readonly array?: (placeholder: string) => string
  /**
   * Returns an expression or a placeholder as a decimal number of any size, and null or an error if it is none. Set if
   * comparisons with columns of floating-point numbers or texts merge different numbers.
   */
  readonly decimal?: (expression: string) => string
}

/** Two different bound values never equal the text of the same row, in a column of any type. */
export const exactness = {
  postgresql: {
    textOf: (expression) => `(${expression})::text COLLATE "C"`,
    elementsOf: (expression) => `(${expression})::text[] COLLATE "C"`,
    array: (placeholder) => `${placeholder}::text[]`,
    // Through a text, because the cast of a floating-point number keeps fewer digits.
    decimal: (expression) => `CAST(CAST(${expression} AS text) AS numeric)`,
  },
  mysql: withCollation('utf8mb4_0900_bin'),
  mariadb: withCollation('utf8mb4_nopad_bin'),
  sqlite: { textOf: (expression) => `CAST(${expression} AS TEXT) COLLATE BINARY` },
  duckdb: {
    textOf: (expression) => `CAST(${expression} AS VARCHAR) COLLATE "BINARY"`,
    elementsOf: (expression) => `SELECT CAST(unnest(${expression}) AS VARCHAR) COLLATE "BINARY"`,
    // Through a text, because the cast of a FLOAT is not exact.
    decimal: (expression) => `TRY_CAST(CAST(${expression} AS VARCHAR) AS DECIMAL(38, 15))`,
  },
  // The last character keeps trailing spaces: comparisons ignore them.
  sqlserver: {
    textOf: (expression) => `CONVERT(nvarchar(max), ${expression}) + N'.' COLLATE Latin1_General_100_BIN2`,
    value: (placeholder) => `${placeholder} + N'.'`,
  },
  redshift: {
    textOf: (expression) => `COLLATE(CAST(${expression} AS varchar(65535)) || '.', 'case_sensitive')`,
    value: (placeholder) => `CAST(${placeholder} AS varchar(65535)) || '.'`,
  },
  // Bytes have no collation.
  bigquery: {
    textOf: (expression) => `CAST(CAST(${expression} AS STRING) AS BYTES)`,
    value: (placeholder) => `CAST(${placeholder} AS BYTES)`,
  },
  snowflake: {
    textOf: (expression) => `TO_BINARY(CAST(${expression} AS VARCHAR), 'UTF-8')`,
    value: (placeholder) => `TO_BINARY(${placeholder}, 'UTF-8')`,
  },
  databricks: {
    textOf: (expression) => `CAST(CAST(${expression} AS STRING) AS BINARY)`,
    value: (placeholder) => `CAST(${placeholder} AS BINARY)`,
  },
  clickhouse: { textOf: (expression) => `toString(${expression})` },
  trino: { textOf: (expression) => `CAST(${expression} AS varchar)` },
  oracle: {
    textOf: (expression) => `NLSSORT(TO_CHAR(${expression}), 'NLS_SORT=BINARY')`,
    value: (placeholder) => `NLSSORT(${placeholder}, 'NLS_SORT=BINARY')`,
  },
} satisfies Record<string, Exactness>

function withCollation(collation: string) {
  return {
    textOf: (expression: string) => `CAST(${expression} AS CHAR CHARACTER SET utf8mb4)`,
    value: (placeholder: string) => `${placeholder} COLLATE ${collation}`,
    decimal: (expression: string) => `CAST(${expression} AS DECIMAL(38, 15))`,
  }
}
