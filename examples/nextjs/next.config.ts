import type { NextConfig } from 'next'

const config: NextConfig = {
  images: { loader: 'custom', loaderFile: './image-loader.ts' },
}

export default config
