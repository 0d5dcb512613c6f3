import type { Resolve } from '../../../src/adapters/fetcher/guard.ts'

/** A name server: for each host its answers in turn, the last one again and again. */
export interface Names {
  resolve: Resolve
  /** The hosts that were asked for, in order. */
  asked: string[]
}

export function names(answers: Record<string, ReadonlyArray<readonly string[]>> = {}): Names {
  const asked: string[] = []
  return {
    asked,
    async resolve(host) {
      const turn = asked.filter((each) => each === host).length
      asked.push(host)
      const answer = answers[host]?.[turn] ?? answers[host]?.at(-1)
      if (!answer) throw dnsError('ENOTFOUND')
      return answer
    },
  }
}

export function dnsError(code: string): Error {
  return Object.assign(new Error(`queryA ${code}`), { code })
}
