export default defineNuxtConfig({
  modules: ['@nuxt/image'],
  image: {
    provider: 'sluice',
    providers: { sluice: { provider: 'sluice/nuxt-image' } },
    densities: [1, 2],
  },
  telemetry: false,
})
