/** `storePart` of a transformation with one output file. Only media jobs store several, so a call is a defect. @throws Error */
export async function refuseParts(name: string): Promise<never> {
  throw new Error(`expected one output file of a transformation but it also stores ${name}`)
}
