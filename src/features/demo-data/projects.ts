import type { PropertyCreate } from '../properties/schema.ts'

/** The projects of the demo workspace, and how their units are laid out. */
export interface DemoProject {
  property: PropertyCreate
  blocks: string[]
  floors: number
  perFloor: number
  /** What a floor's first unit costs at the bottom, and how much each floor adds. */
  basePrice: number
  perFloorPrice: number
  kinds: { type: string; bedrooms: number; bathrooms: number; interior: number; land?: number }[]
  /** Sold first, so that sell-through differs between projects; in percent. */
  sold: number
  reserved: number
  monthsOld: number
}

const picture = (name: string) => `https://images.demo-realty.example/${name}.jpg`

export const demoProjects: DemoProject[] = [
  {
    property: {
      name: 'Marina Heights',
      type: 'apartment',
      status: 'under_construction',
      location: {
        address: '12 Harbour Road',
        area: 'Marina',
        city: 'Lisbon',
        country: 'PT',
        coordinates: { lat: 38.7069, lng: -9.1427 },
      },
      description: 'Two slender towers on the old dock, with a public promenade and a rooftop pool.',
      media: { cover: picture('marina-heights'), gallery: [picture('marina-lobby'), picture('marina-pool')] },
      pricing: { currency: 'EUR', min_price: 285_000, max_price: 980_000 },
      features: ['pool', 'gym', 'concierge', 'river_view'],
      completion_date: '2027-09-30',
    },
    blocks: ['A', 'B'],
    floors: 8,
    perFloor: 4,
    basePrice: 285_000,
    perFloorPrice: 14_500,
    kinds: [
      { type: '1BR Apartment', bedrooms: 1, bathrooms: 1, interior: 58.5 },
      { type: '2BR Apartment', bedrooms: 2, bathrooms: 2, interior: 86 },
      { type: '2BR Apartment', bedrooms: 2, bathrooms: 2, interior: 91.25 },
      { type: '3BR Apartment', bedrooms: 3, bathrooms: 2.5, interior: 124 },
    ],
    sold: 28,
    reserved: 12,
    monthsOld: 9,
  },
  {
    property: {
      name: 'Olive Grove Villas',
      type: 'villa',
      status: 'completed',
      location: {
        area: 'Sintra Hills',
        city: 'Sintra',
        country: 'PT',
        coordinates: { lat: 38.8029, lng: -9.3817 },
      },
      description: 'Detached villas between old olive trees, twenty-five minutes from the city.',
      media: { cover: picture('olive-grove'), virtual_tour: 'https://tours.demo-realty.example/olive-grove' },
      pricing: { currency: 'EUR', min_price: 790_000, max_price: 1_450_000 },
      features: ['garden', 'private_pool', 'solar'],
      completion_date: '2025-11-15',
    },
    blocks: ['V'],
    floors: 4,
    perFloor: 3,
    basePrice: 790_000,
    perFloorPrice: 115_000,
    kinds: [
      { type: '3BR Villa', bedrooms: 3, bathrooms: 3, interior: 210, land: 620 },
      { type: '4BR Villa', bedrooms: 4, bathrooms: 4, interior: 265.5, land: 780 },
      { type: '5BR Villa', bedrooms: 5, bathrooms: 5, interior: 340, land: 1_150 },
    ],
    sold: 58,
    reserved: 8,
    monthsOld: 20,
  },
  {
    property: {
      name: 'The Foundry',
      type: 'mixed_use',
      status: 'planning',
      location: { address: '4 Ironworks Lane', area: 'Marvila', city: 'Lisbon', country: 'PT' },
      description: 'A former foundry: lofts above, studios and shops below.',
      pricing: { currency: 'EUR', min_price: 240_000, max_price: 690_000 },
      features: ['loft', 'coworking', 'ev_charging'],
      completion_date: '2028-06-30',
    },
    blocks: ['F'],
    floors: 5,
    perFloor: 5,
    basePrice: 240_000,
    perFloorPrice: 22_000,
    kinds: [
      { type: 'Studio', bedrooms: 0, bathrooms: 1, interior: 41 },
      { type: '1BR Loft', bedrooms: 1, bathrooms: 1, interior: 66.75 },
      { type: '2BR Loft', bedrooms: 2, bathrooms: 2, interior: 98 },
    ],
    sold: 0,
    reserved: 16,
    monthsOld: 3,
  },
  {
    property: {
      name: 'Parkside Terraces',
      type: 'townhouse',
      status: 'under_construction',
      location: { address: '80 Park Avenue', area: 'Boavista', city: 'Porto', country: 'PT' },
      description: 'Three-storey family houses along the city park.',
      media: { cover: picture('parkside') },
      pricing: { currency: 'EUR', min_price: 465_000, max_price: 640_000 },
      features: ['garden', 'garage', 'park_view'],
      completion_date: '2027-03-31',
    },
    blocks: ['P', 'Q'],
    floors: 3,
    perFloor: 4,
    basePrice: 465_000,
    perFloorPrice: 38_000,
    kinds: [
      { type: '3BR Townhouse', bedrooms: 3, bathrooms: 2.5, interior: 148, land: 180 },
      { type: '4BR Townhouse', bedrooms: 4, bathrooms: 3, interior: 172.5, land: 210 },
    ],
    sold: 38,
    reserved: 17,
    monthsOld: 12,
  },
]
