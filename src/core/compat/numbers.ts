// Numbers in URLs of other services.

/** A whole number. */
export const INTEGER = /^\d{1,9}$/
/** A number, with decimals or without. */
export const NUMBER = /^\d{1,9}(\.\d{1,9})?$/
