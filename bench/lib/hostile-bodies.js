const bytes = 1024 * 1024 - 64

/**
 * Builds a body of nearly 1 MiB.
 * @param {string} open
 * @param {string | ((i: number) => string)} piece
 * @param {string} close
 */
function filled(open, piece, close) {
  const pieces = []
  let length = Buffer.byteLength(open + close)
  for (let i = 0; ; i++) {
    const next = typeof piece === 'string' ? piece : piece(i)
    length += Buffer.byteLength(next)
    if (length > bytes) return Buffer.from(open + pieces.join('') + close)
    pieces.push(next)
  }
}

/** @param {Buffer} body */
const withInvalidUtf8 = (body) => Buffer.concat([body, Buffer.of(0xff)])

const start = '{"user_group_id":"a","name":"A",'
const inProperties = `${start}"properties":{"a":`
const inMapping = `${start}"mapping":{`
const inName = '{"user_group_id":"a","name":"'
/** As many characters outside of strings as `properties` may have, in the most expensive values. */
const largestProperties = `${start}"properties":{"a":[${'{},'.repeat(21_800)}0]}`

/**
 * Plain strings of 1 MiB, for comparison. The service reads the first to its end, and the second only until it knows that `properties` are
 * too large.
 */
export const plainBodies = {
  'a plain string as the name': filled(inName, 'x', '"}'),
  'a plain string in properties': filled(`${inProperties}"`, 'x', '"}}'),
}

/**
 * Bodies of 1 MiB that are as expensive as possible.
 * @type {Record<string, Buffer>}
 */
export const hostileBodies = {
  'arrays in arrays': filled(inProperties, '[', ''),
  'arrays in arrays, closed': filled(`${inProperties}${'['.repeat(500_000)}`, ']', '}}'),
  'objects in objects': filled(inProperties, '{"a":', ''),
  'arrays in arrays as the body': filled('', '[', ''),
  'arrays in arrays as the name': filled('{"user_group_id":"a","name":', '[', ''),
  'records of an export': filled(
    `${inProperties}[`,
    (i) => `{"id":${i},"name":"name ${i}","region":"EU"},`,
    '0]}}',
  ),
  'empty objects': filled(`${inProperties}[`, '{},', '0]}}'),
  'empty arrays': filled(`${inProperties}[`, '[],', '0]}}'),
  'empty arrays as the body': filled('[', '[],', '0]'),
  'an array of user groups': filled('[', (i) => `{"user_group_id":"${i}","name":"A"},`, '0]'),
  'numbers of a digit': filled(`${inProperties}[`, '1,', '0]}}'),
  'numbers of 17 digits': filled(`${inProperties}[`, '1.7976931348623157e308,', '0]}}'),
  'numbers that are slow to compare': filled(`${inProperties}[`, `${5n ** 1074n}e-1074,`, '0]}}'),
  'a number': filled(inProperties, '1', '}}'),
  'a number of zeros': filled(`${inProperties}0.`, '0', '1}}'),
  'small strings': filled(`${inProperties}[`, '"",', '0]}}'),
  'strings of a character': filled(`${inProperties}[`, '"x",', '0]}}'),
  'strings of 30 characters': filled(`${inProperties}[`, `"${'x'.repeat(30)}",`, '0]}}'),
  'strings of digits that share their low bits': filled(
    `${inProperties}[`,
    (i) => `"${((i + 1) * 131_072) % 2 ** 32}",`,
    '0]}}',
  ),
  'keys of one length': filled(
    `${start}"properties":{`,
    (i) => `"${String(i).padStart(10, 'k')}":0,`,
    '"":0}}',
  ),
  'keys "0" to "n"': filled(`${start}"properties":{`, (i) => `"${i}":0,`, '"":0}}'),
  'keys of digits that are far from each other': filled(
    `${start}"properties":{`,
    (i) => `"${(i + 1) * 65_536}":0,`,
    '"":0}}',
  ),
  'keys of 80 characters': filled(
    `${start}"properties":{`,
    (i) => `"${String(i).padStart(80, 'k')}":0,`,
    '"":0}}',
  ),
  'keys with an escape': filled(`${start}"properties":{`, (i) => `"\\n${i}${'k'.repeat(80)}":0,`, '"":0}}'),
  'a duplicate after many keys': filled(`${start}"properties":{`, (i) => `"k${i}":0,`, '"k0":0}}'),
  'a duplicate after keys of 80 characters': filled(
    `${start}"properties":{`,
    (i) => `"${String(i).padStart(80, 'k')}":0,`,
    '"a":0,"a":0}}',
  ),
  'a duplicate after keys with escapes': filled(
    `${start}"properties":{`,
    (i) => `"\\n${i}${'k'.repeat(80)}":0,`,
    '"a":0,"a":0}}',
  ),
  'a duplicate after keys of escapes': filled(
    `${start}"properties":{`,
    (i) => `"\\u0061${'\\u0062'.repeat(8)}${i}":0,`,
    '"a":0,"a":0}}',
  ),
  'a duplicate after long keys of escapes': filled(
    `${start}"properties":{`,
    (i) => `"${i}${'\\u0062'.repeat(1000)}":0,`,
    '"a":0,"a":0}}',
  ),
  'a duplicate after objects': filled(`${inProperties}[`, '{"a":0},', '{"a":0,"a":0}]}}'),
  'a duplicate after fields of escapes': filled(
    '{',
    (i) => `"${i}${'\\u0062'.repeat(500)}":"${'\\u0062'.repeat(380)}",`,
    '"a":0,"a":0}',
  ),
  'a duplicate after a name of escapes': filled(
    `{"user_group_id":"a","user_group_id":"b","name":"`,
    '\\u0061',
    '"}',
  ),
  'a name of escapes twice': filled(`{"name":"${'\\u0061'.repeat(87_000)}","name":"`, '\\u0061', '"}'),
  'a duplicate after a mapping of escapes': filled(
    inMapping,
    (i) => `"${i}${'\\u0062'.repeat(250)}":"${'\\u0063'.repeat(250)}",`,
    '"a":"","a":""}}',
  ),
  'a duplicate after a mapping of escapes and characters of four bytes': filled(
    inMapping,
    (i) => `"${i}${'😀\\u0062'.repeat(120)}":"${'😀\\u0063'.repeat(120)}",`,
    '"a":"","a":""}}',
  ),
  'a duplicate after a mapping of keys of two-byte characters': filled(
    inMapping,
    (i) => `"${i}${'é'.repeat(260)}":"",`,
    '"a":"","a":""}}',
  ),
  'a duplicate after a mapping of keys of two-byte characters, one with an escape': filled(
    `${inMapping}"\\n":"",`,
    (i) => `"${i}${'é'.repeat(260)}":"",`,
    '"a":"","a":""}}',
  ),
  'a duplicate after a mapping of keys of four-byte characters that differ at the end': filled(
    inMapping,
    (i) => `"${'😀'.repeat(130)}${i}":"",`,
    '"a":"","a":""}}',
  ),
  'duplicates in a mapping of two-byte characters': filled(
    inMapping,
    (i) => `"${i === 0 ? 'a' : 'é'.repeat(260)}":"",`,
    '"a":""}}',
  ),
  'a duplicate after two-byte characters in properties and white space': filled(
    `${start}"properties":{${Array.from({ length: 8000 }, (_, i) => `"é${i}":0`).join()}`,
    ' ',
    ',"a":0,"a":0}}',
  ),
  'largest properties, white space and a character of two bytes': filled(
    `${start}"mapping":{"é":"1"},${largestProperties.slice(start.length)}`,
    ' ',
    '}',
  ),
  'duplicates at every level': Buffer.from(
    `${inProperties}${'{"a":0,"a":'.repeat(60)}"${'\\u0061'.repeat(130_000)}"${'}'.repeat(62)}`,
  ),
  'the field of escapes twice': filled(
    `{"${'\\u0061'.repeat(500)}":0,"${'\\u0061'.repeat(500)}":"`,
    '\\u0061',
    '"}',
  ),
  'escapes and a syntax error': filled(inName, '\\u00e9', '"]'),
  'escapes \\n and a syntax error': filled(inName, '\\n', '"]'),
  'escapes and a control character': filled(inName, '\\u00e9', '\n"}'),
  'characters and a control character': filled(inName, 'x', '\n"}'),
  'surrogate pairs and a syntax error': filled(inName, '\\ud83d\\ude00', '"]'),
  'lone surrogates in the name': filled(inName, '\\ud83d', '"}'),
  'values of 200 fields with U+0000': filled('{', (i) => `"${i}":"${'\\u0000'.repeat(900)}",`, '"a":0}'),
  'strings with U+0000 in properties': filled(`${inProperties}[`, '"\\u0000",', '0]}}'),
  'a token of escapes': filled('{"current_token":"', '\\u0061', '"}'),
  'largest properties after white space': filled(`${largestProperties.slice(0, -1)}],"b":[`, ' ', ']}}'),
  'largest properties, a mapping of small values and a string': filled(
    `${largestProperties}},"mapping":{${Array.from({ length: 1990 }, (_, i) => `"${i}":[[],0]`).join()}},"unknown":"`,
    'é',
    '"}',
  ),
  'objects with a duplicate each': filled(`${inProperties}[`, '{"a":0,"a":0},', '0]}}'),
  'unknown fields': filled('{', (i) => `"k${i}":0,`, '"user_group_id":"a"}'),
  'unknown fields of 80 characters': filled(
    '{',
    (i) => `"${String(i).padStart(80, 'k')}":0,`,
    '"user_group_id":"a"}',
  ),
  'unknown fields with U+0000': filled(
    '{',
    (i) => `"${String(i).padStart(70, 'k')}":"\\u0000",`,
    '"user_group_id":"a"}',
  ),
  'a mapping of small entries': filled(inMapping, (i) => `"${i}":"",`, '"":""}}'),
  'a mapping of long entries': filled(
    inMapping,
    (i) => `"${String(i).padStart(250, 'k')}":"${'x'.repeat(250)}",`,
    '"":""}}',
  ),
  'a mapping of invalid values': filled(inMapping, (i) => `"${i}":[],`, '"":0}}'),
  'a mapping of escapes': filled(
    inMapping,
    (i) => `"${i}${'\\u00e9'.repeat(250)}":"${'\\u00e9'.repeat(250)}",`,
    '"":""}}',
  ),
  'a mapping of surrogate pairs': filled(
    inMapping,
    (i) => `"${i}${'\\ud83d\\ude00'.repeat(250)}":"${'\\ud83d\\ude00'.repeat(250)}",`,
    '"":""}}',
  ),
  'a mapping with a long value': filled(`${inMapping}"a":"`, 'x', '"}}'),
  'a mapping with a long key': filled(`${inMapping}"`, '~', '":"a"}}'),
  'a mapping with a long key and no value': filled(`${inMapping}"`, '~/', '":0}}'),
  'escapes \\n': filled(`${inProperties}"`, '\\n', '"}}'),
  'escapes \\/': filled(`${inProperties}"`, '\\/', '"}}'),
  'escapes \\\\': filled(`${inProperties}"`, '\\\\', '"}}'),
  'escapes \\u00e9': filled(`${inProperties}"`, '\\u00e9', '"}}'),
  'escapes \\u0000': filled(`${inProperties}"`, '\\u0000', '"}}'),
  'escapes of surrogate pairs': filled(`${inProperties}"`, '\\ud83d\\ude00', '"}}'),
  'escapes of lone surrogates': filled(`${inProperties}"`, '\\ud83d', '"}}'),
  'escapes between characters': filled(`${inProperties}"`, 'xx\\n', '"}}'),
  'escapes between 20 characters': filled(`${inProperties}"`, `${'x'.repeat(20)}\\n`, '"}}'),
  'escapes \\u00e9 in the name': filled(inName, '\\u00e9', '"}'),
  'escapes of surrogate pairs in the name': filled(inName, '\\ud83d\\ude00', '"}'),
  'escapes in a key': filled(`${start}"properties":{"`, '\\\\', '":0}}'),
  'escapes in the name of a field': filled(`${start}"`, '\\u00e9', '":0}'),
  'a long key': filled(`${start}"properties":{"`, 'x', '":0}}'),
  'a long name of a field': filled(`${start}"`, '~', '":0}'),
  'characters of two bytes in the name': filled(inName, 'é', '"}'),
  'characters of four bytes in the name': filled(inName, '😀', '"}'),
  'characters of two bytes in properties': filled(`${inProperties}"`, 'é', '"}}'),
  'spaces in the name': filled(inName, ' ', '"}'),
  'invisible characters in the name': filled(inName, '\u200b', '"}'),
  'invisible characters of four bytes in the name': filled(inName, '\u{e0001}', '"}'),
  'control characters in the name': filled(inName, '\u007f', '"}'),
  'white space': filled(start, ' ', '"properties":{}}'),
  'white space in properties': filled(`${start}"properties":{`, ' ', '}}'),
  'white space between values': filled(inProperties + '[', `1${' '.repeat(15)},`, '0]}}'),
  'line feeds before a syntax error': filled(start, '\n', '}'),
  'largest properties and a string': filled(`${largestProperties},"unknown":"`, 'x', '"}'),
  'largest properties and escapes': filled(`${largestProperties},"unknown":"`, '\\u00e9', '"}'),
  'largest properties and white space': filled(largestProperties, ' ', '}'),
  'largest properties and characters of two bytes': filled(`${largestProperties},"unknown":"`, 'é', '"}'),
  'largest properties, a string and a syntax error': filled(`${largestProperties},"unknown":"`, 'x', '"]'),
  'an escape that does not exist at the end': filled(`${inProperties}"`, '\\n', '\\x"}}'),
  'a string without an end': filled(`${inProperties}"`, '\\n', ''),
  'a string of control characters': filled(`${inProperties}"`, '\n', '"}}'),
  'text that is not JSON': filled('', 'x', ''),
  'null characters': filled('', '\0', ''),
  quotes: filled('', '"', ''),
  'closing brackets': filled('', ']', ''),
  'a syntax error at the end': filled(`${inProperties}"`, 'x', '"]}'),
  'records and invalid UTF-8 at the end': withInvalidUtf8(
    filled(`${inProperties}[`, (i) => `{"id":${i},"name":"name ${i}"},`, '0]}}'),
  ),
}
