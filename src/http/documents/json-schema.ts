/** A part of JSON Schema, or of an OpenAPI document. */
export type JsonSchema = { [keyword: string]: unknown }
