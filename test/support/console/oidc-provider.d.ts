declare module 'oidc-provider' {
  // biome-ignore lint/style/noDefaultExport: it is the export of the library.
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): import('node:http').RequestListener
    // biome-ignore lint/suspicious/noExplicitAny: the grant of the library.
    Grant: any
  }
}
