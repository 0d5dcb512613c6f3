import type { Endpoint } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { CONDITIONS, STORED } from './sent.ts'

const SERVICES = [
  { word: 'cloudinary', name: 'Cloudinary', example: 'image/upload/c_fill,w_300,h_200/products/chair.jpg' },
  {
    word: 'imgproxy',
    name: 'imgproxy',
    example: 'unsafe/rs:fill:300:200/plain/local:///products/chair.jpg',
  },
  {
    word: 'default-uploader',
    name: 'Default Uploader',
    example: 'v1/image/upload/their_token/products/chair.jpg',
  },
  { word: 'openinary', name: 'openinary', example: 't/w_300,h_200/products/chair.jpg' },
]

/** URLs of other services. A route exists when `COMPAT` lists its service. */
export const COMPAT: readonly Endpoint[] = SERVICES.map(({ word, name, example }) => ({
  route: `GET /compat/${word}/:token/*path`,
  id: `get${name[0]?.toUpperCase()}${name.slice(1).replace(' ', '')}Url`,
  tag: 'Delivery',
  summary: `Deliver a file by a URL of ${name}`,
  description: `The path is that of ${name} after its host and account: \`${example}\`. The endpoint exists when \`COMPAT\` lists \`${word}\`.`,
  access: 'signature',
  parameters: CONDITIONS,
  responses: STORED,
  examples: [
    {
      id: 'small',
      summary: 'The file of an alias',
      parameters: { token: EXAMPLE.token, path: example },
      status: 200,
    },
  ],
}))
