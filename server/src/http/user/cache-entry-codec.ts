// An answer as it is remembered: in about half of its size, so that there is memory for twice as many.

/** What most answers have in them. Where answers are written otherwise, they take more memory. */
const parts = [
  '{"success":1,"new_user_group":false,"user_group":{"team_id":',
  ',"token":"ugt_customer_',
  ',"token":"ugt_testing_',
  '","provided_id":"',
  '","properties":',
  '{"active":true,"token_type":"user_group","sub":"',
  '","iat":',
  ',"team_id":',
  '","name":"',
  ',"name":"',
  '","api_environment_tag":"Customer","mapping":',
  '","api_environment_tag":"Testing","mapping":',
  ',"data_sources":{},"properties":',
  ',"data_sources":{',
  '},"properties":',
]
// Each is kept as a control character; JSON has none but those of white space.
const firstCode = 0x0e
const codeOf = (index: number) => String.fromCharCode(firstCode + index)
/** In place of what the question has in it too. */
const repeatedCode = 0x01

/** Properties come as they were asked for: of them it is kept where they are in the question, which comes with them again. */
export interface PackedResponse {
  readonly packed: string
  /** In characters of the question. */
  readonly start: number
  readonly length: number
}

/** Undefined where it could not be told apart from what is packed. */
export function pack(json: string, question: string, properties: string): PackedResponse | undefined {
  const found = question.indexOf(properties)
  const [start, length] = found === -1 ? [0, 0] : [found, properties.length]
  const shortened = length === 0 ? json : json.replace(properties, () => String.fromCharCode(repeatedCode))
  const packed = parts.reduce((text, part, index) => text.replaceAll(part, codeOf(index)), shortened)
  const response = { packed, start, length }
  return unpack(response, question) === json ? response : undefined
}

export function unpack({ packed, start, length }: PackedResponse, question: string): string {
  let json = ''
  let done = 0
  for (let i = 0; i < packed.length; i++) {
    const code = packed.charCodeAt(i)
    if (code >= 0x20) continue
    const part = code === repeatedCode ? question.slice(start, start + length) : parts[code - firstCode]
    if (part === undefined) continue
    json += packed.slice(done, i) + part
    done = i + 1
  }
  return json + packed.slice(done)
}
