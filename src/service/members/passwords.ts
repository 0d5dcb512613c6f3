import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { busy } from '../../core/problem.ts'

/** Digests of passwords. Each call takes about 0.2 s of one core and 32 MiB. */
export interface Passwords {
  /** A digest with a new salt. @throws Problem 503 when too many calls wait */
  digest(password: string): Promise<string>
  /**
   * Whether a password has this digest. Without a digest it takes the same time and is false: the time does not reveal
   * whether a member exists.
   * @throws Problem 503 when too many calls wait
   */
  matches(password: string, digest: string | undefined): Promise<boolean>
}

/** Parameters of scrypt. */
export interface PasswordCost {
  N: number
  r: number
  p: number
}

// Of OWASP's equivalent choices for scrypt the one with 32 MiB: the service also runs on machines with 512 MiB.
const COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 }
const SALT_BYTES = 16
const DIGEST_BYTES = 32
// Half of the threads of libuv, which also read files.
const AT_ONCE = 2
// The last one waits about two seconds.
const WAITING_MAX = 16

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** @param options.cost of new digests */
export function createPasswords({ cost = COST }: { cost?: PasswordCost } = {}): Passwords {
  let running = 0
  const waiting: (() => void)[] = []
  const none = formatted({ cost, salt: randomBytes(SALT_BYTES), key: randomBytes(DIGEST_BYTES) })

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= WAITING_MAX) throw busy('Too many sign-ins at once. Retry in a few seconds.')
      await new Promise<void>((turn) => waiting.push(turn))
    } else running += 1
    try {
      return await work()
    } finally {
      // The place passes to the next one, so that no newcomer takes it in between.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  function derive(password: string, salt: Buffer, { N, r, p }: PasswordCost): Promise<Buffer> {
    // Keyboards write the same character in several ways.
    return deriveKey(password.normalize('NFKC'), salt, DIGEST_BYTES, { N, r, p, maxmem: 256 * N * r })
  }

  return {
    digest: (password) =>
      inTurn(async () => {
        const salt = randomBytes(SALT_BYTES)
        return formatted({ cost, salt, key: await derive(password, salt, cost) })
      }),
    matches: (password, digest) =>
      inTurn(async () => {
        const stored = parsed(digest ?? none)
        const key = await derive(password, stored.salt, stored.cost)
        return timingSafeEqual(key, stored.key) && digest !== undefined
      }),
  }
}

interface Stored {
  cost: PasswordCost
  salt: Buffer
  key: Buffer
}

function formatted({ cost: { N, r, p }, salt, key }: Stored): string {
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** @throws Error for any other text */
function parsed(digest: string): Stored {
  const [, N, r, p, salt = '', key = ''] =
    /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]{43})$/.exec(digest) ?? []
  if (key === '') throw new Error('expected the digest of a password')
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}
