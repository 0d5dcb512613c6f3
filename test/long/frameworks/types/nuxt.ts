// Compiled by examples.test.ts, and never run.
import type { ImageProvider } from '@nuxt/image'
import provider from 'sluice/nuxt-image'

/** As Nuxt Image infers the options of a provider. */
type Options = ReturnType<typeof provider> extends ImageProvider<infer Inferred> ? Inferred : never

export const declared: ImageProvider<Options> = provider()
export const options: Options = { baseURL: 'https://files.example', modifiers: { blur: 2, width: 300 } }
// @ts-expect-error there is no such modifier
export const misspelt: Options = { modifiers: { blurr: 2 } }
