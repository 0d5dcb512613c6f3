import type { Ledger } from '../../core/ports/ledger.ts'

/**
 * Puts what `make` makes of a text in its place, whoever else changes it meanwhile; nothing is written when it is the same.
 *
 * @param options.make called anew for each text that it finds; undefined for none. What it throws leaves all as it is
 * @param options.forgetAt milliseconds since 1970, from when on the text may be gone
 * @returns the answer that goes with what was put
 * @throws Problem 503
 */
export async function changeInLedger<T>(
  ledger: Ledger,
  name: string,
  {
    make,
    forgetAt,
  }: {
    make: (before: string | undefined) => Promise<{ after: string | undefined; answer: T }>
    forgetAt: number
  },
): Promise<T> {
  for (;;) {
    const before = await ledger.find(name)
    const { after, answer } = await make(before)
    if (after === before || (await ledger.replace(name, before, after, { forgetAt }))) return answer
  }
}
