import { Cloudinary } from '@cloudinary/url-gen'
import { constructCloudinaryUrl } from '@cloudinary-util/url-loader'
import { generateImageUrl } from '@imgproxy/imgproxy-node'
import { expect } from 'chai'
import { v2 as cloudinary } from 'cloudinary'
import sharp from 'sharp'
import { corners } from '../../pipeline/image/geometry/corners.ts'
import { onOneBackend } from '../../support/backends.ts'
import { picture } from '../../support/media/images.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

/**
 * What the other service delivers: the size, and the corners clockwise from the top left (red, green, blue, white; `-`: transparent,
 * `k`: black); or that we refuse it.
 */
type Expected = readonly [width: number, height: number, corners?: string] | 400

const NAME = 'chair.png'
const CLOUD = 'demo'

/** The path below our prefix of a URL of Cloudinary's packages, which ends with a mark of the package. */
const pathOf = (url: string) => new URL(url).pathname.replace(`/${CLOUD}`, '')

type NodeOptions = NonNullable<Parameters<typeof cloudinary.url>[1]> & object
const byNode = (options: NodeOptions) =>
  pathOf(cloudinary.url(NAME, { cloud_name: CLOUD, secure: true, ...options }))
const byUrlGen = (transformation: string) =>
  pathOf(
    new Cloudinary({ cloud: { cloudName: CLOUD } }).image(NAME).addTransformation(transformation).toURL(),
  )
type LoaderOptions = Omit<Parameters<typeof constructCloudinaryUrl>[0]['options'], 'src'>
const byLoader = (options: LoaderOptions) =>
  pathOf(
    constructCloudinaryUrl({
      options: { src: NAME, ...options } as never,
      config: { cloud: { cloudName: CLOUD } },
    }),
  )
type ImgproxyOptions = NonNullable<Parameters<typeof generateImageUrl>[0]['options']>
const byImgproxy = (options: ImgproxyOptions) =>
  new URL(
    generateImageUrl({
      endpoint: 'https://imgproxy.example/',
      url: { value: `local:///${NAME}`, displayAs: 'plain' },
      options,
    }),
  ).pathname

// Of a picture of 120 x 80: the corners are red, green, blue, white.
const BY_CLOUDINARY: ReadonlyArray<readonly [path: string, expected: Expected]> = [
  [byNode({}), [120, 80, 'rgbw']],
  [byNode({ width: 60, crop: 'scale' }), [60, 40, 'rgbw']],
  [byNode({ width: 240, crop: 'scale' }), [240, 160, 'rgbw']],
  [byNode({ width: 60, height: 60, crop: 'scale' }), [60, 60, 'rgbw']],
  [byNode({ width: 40, height: 80, crop: 'fill', gravity: 'west' }), [40, 80, 'rrww']],
  [byNode({ width: 40, height: 80, crop: 'fill', gravity: 'east' }), [40, 80, 'ggbb']],
  [byNode({ width: 120, height: 40, crop: 'fill', gravity: 'north' }), [120, 40, 'rggr']],
  [byNode({ width: 240, height: 240, crop: 'fill' }), [240, 240, 'rgbw']],
  [byNode({ width: 200, height: 200, crop: 'limit' }), [120, 80, 'rgbw']],
  [byNode({ width: 60, height: 60, crop: 'fit' }), [60, 40, 'rgbw']],
  [byNode({ width: 60, height: 60, crop: 'mfit' }), [90, 60, 'rgbw']],
  [byNode({ width: 60, height: 60, crop: 'pad', background: 'black' }), [60, 60, 'kkkk']],
  [byNode({ width: 60, height: 60, crop: 'pad', gravity: 'north', background: 'black' }), 400],
  [byNode({ x: 60, y: 0, width: 60, height: 40, crop: 'crop' }), [60, 40, 'gggg']],
  [byNode({ width: 60, height: 40, crop: 'crop', gravity: 'face' }), 400],
  [byNode({ width: 60, height: 60, crop: 'thumb', gravity: 'auto' }), [60, 60]],
  [byNode({ aspect_ratio: '1:1', width: 40, crop: 'fill' }), [40, 40, 'rgbw']],
  [byNode({ angle: 90 }), [80, 120, 'wrgb']],
  [byNode({ angle: 'hflip' }), [120, 80, 'grwb']],
  [byNode({ angle: 'vflip' }), [120, 80, 'wbgr']],
  [byNode({ transformation: [{ width: 60, crop: 'scale' }, { angle: 90 }] }), [40, 60, 'wrgb']],
  [byNode({ transformation: [{ angle: 90 }, { width: 60, crop: 'scale' }] }), 400],
  [
    byNode({
      transformation: [
        { width: 60, crop: 'scale' },
        { width: 30, crop: 'scale' },
      ],
    }),
    400,
  ],
  [byNode({ radius: 'max' }), [120, 80, '----']],
  [byNode({ quality: 'auto', fetch_format: 'auto' }), [120, 80, 'rgbw']],
  [byNode({ dpr: 2, width: 30, crop: 'scale' }), [60, 40, 'rgbw']],
  [byNode({ effect: 'negate' }), [120, 80]],
  [byNode({ effect: 'sepia' }), 400],
  [byNode({ overlay: 'other' }), 400],
  [byNode({ if: 'w_gt_100', width: 50, crop: 'scale' }), 400],
  [byUrlGen('c_fill,g_west,h_80,w_40'), [40, 80, 'rrww']],
  [byUrlGen('c_scale,w_60/f_webp/q_80'), [60, 40, 'rgbw']],
  [byUrlGen('c_pad,b_black,h_60,w_60'), [60, 60, 'kkkk']],
  [byUrlGen('e_pixelate'), 400],
  [byLoader({ width: 60 }), [60, 40, 'rgbw']],
  [byLoader({ width: 40, height: 80, crop: 'fill', gravity: 'west' }), [40, 80, 'rrww']],
  [byLoader({ width: 60, height: 60, crop: 'pad', background: 'black' }), [60, 60, 'kkkk']],
]

const BY_IMGPROXY: ReadonlyArray<readonly [path: string, expected: Expected]> = [
  [byImgproxy({}), [120, 80, 'rgbw']],
  [byImgproxy({ width: 60 }), [60, 40, 'rgbw']],
  [byImgproxy({ width: 240 }), [120, 80, 'rgbw']],
  [byImgproxy({ width: 240, enlarge: 1 }), [240, 160, 'rgbw']],
  [byImgproxy({ resizing_type: 'fit', width: 60, height: 60 }), [60, 40, 'rgbw']],
  [byImgproxy({ resizing_type: 'force', width: 60, height: 60 }), [60, 60, 'rgbw']],
  [
    byImgproxy({ resize: { resizing_type: 'fill', width: 40, height: 80 }, gravity: { type: 'we' } }),
    [40, 80, 'rrww'],
  ],
  [
    byImgproxy({ resize: { resizing_type: 'fill', width: 40, height: 80 }, gravity: { type: 'ea' } }),
    [40, 80, 'ggbb'],
  ],
  [byImgproxy({ resize: { resizing_type: 'fill', width: 400, height: 60 } }), [120, 60, 'rgbw']],
  [byImgproxy({ resize: { resizing_type: 'fill', width: 200, height: 200 } }), [120, 80, 'rgbw']],
  [byImgproxy({ resize: { resizing_type: 'fill-down', width: 240, height: 80 } }), [120, 40, 'rgbw']],
  [byImgproxy({ resize: { resizing_type: 'auto', width: 40, height: 80 } }), 400],
  [byImgproxy({ rotate: 90 }), [80, 120, 'wrgb']],
  [byImgproxy({ rotate: 90, width: 40 }), [40, 60, 'wrgb']],
  [
    byImgproxy({ crop: { width: 60, height: 40, gravity: { type: 'nowe', x_offset: 60, y_offset: 0 } } }),
    [60, 40, 'gggg'],
  ],
  [byImgproxy({ crop: { width: 60, height: 40 } }), 400],
  [byImgproxy({ padding: { top: 10 }, background: { r: 0, g: 0, b: 0 } }), [140, 100, 'kkkk']],
  [byImgproxy({ dpr: 2, width: 30 }), [60, 40, 'rgbw']],
  [byImgproxy({ quality: 80, format: 'webp' }), [120, 80, 'rgbw']],
  [byImgproxy({ blur: 2 }), [120, 80]],
  [byImgproxy({ pixelate: 5 }), 400],
  [byImgproxy({ watermark: { opacity: 1 } }), 400],
]

onOneBackend('URLs that the official packages of other services build', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { COMPAT: 'cloudinary imgproxy' } })
    const bytes = await picture({ width: 120, height: 80 })
    const { s3PathOriginal: file } = await uploadOne(service, { name: NAME, bytes })
    await ask(service, `/v1/aliases/${NAME}`, { method: 'PUT', json: { file } })
  })

  for (const [name, table] of [
    ['cloudinary', BY_CLOUDINARY],
    ['imgproxy', BY_IMGPROXY],
  ] as const)
    for (const [path, expected] of everyNth(3, table))
      it(`are rendered as there, or refused: ${name}${path}`, async () => {
        const answer = await exchange(service, `/compat/${name}/${service.tokens.clientToken}${path}`)
        if (expected === 400) {
          expect([answer.status, jsonOf(answer).code]).to.deep.equal([400, 'no_equivalent'])
          return
        }
        expect(answer.status, answer.body.toString().slice(0, 300)).to.equal(200)
        const [width, height, points] = expected
        const metadata = await sharp(answer.body).metadata()
        expect([metadata.width, metadata.height]).to.deep.equal([width, height])
        if (points !== undefined) expect(await corners(answer.body)).to.equal(points)
      })
})
