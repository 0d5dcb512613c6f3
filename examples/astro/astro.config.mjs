import { defineConfig } from 'astro/config'

export default defineConfig({
  image: {
    service: { entrypoint: 'sluice/astro' },
  },
})
