import type { Workspace } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import type { Sql } from '../../kernel/sql.ts'
import { Property } from '../properties/schema.ts'
import { Unit } from '../units/schema.ts'
import { insertMany } from './insert.ts'
import { fillPipeline } from './pipeline.ts'
import { type DemoProject, demoProjects } from './projects.ts'

const dayMs = 86_400_000

/**
 * Fills a workspace with a plausible small developer's stock, people and sales. The same every time but
 * for ids, and dated back from `now`. Records only: nobody is told of them as events.
 */
export async function fillWithDemoData(sql: Sql, workspace: Workspace, now: Date): Promise<void> {
  const properties = demoProjects.map((project, index) => demoProperty(project, index, workspace, now))
  const units = demoProjects.flatMap((project, index) =>
    demoUnits(project, properties[index]!, workspace, now),
  )
  await insertMany(sql, workspace, Property, properties)
  await insertMany(sql, workspace, Unit, units)
  await fillPipeline(sql, workspace, { properties, units }, now)
}

function demoProperty(project: DemoProject, index: number, workspace: Workspace, now: Date): Property {
  const createdAt = new Date(now.getTime() - project.monthsOld * 30 * dayMs - index * 3_600_000)
  const system = {
    id: newId('prop', createdAt),
    units_count: 0,
    units_available: 0,
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
  }
  return Property.complete(project.property, system, workspace).record
}

function demoUnits(project: DemoProject, property: Property, workspace: Workspace, now: Date): Unit[] {
  const total = project.blocks.length * project.floors * project.perFloor
  return Array.from({ length: total }, (_, index) => {
    const perBlock = project.floors * project.perFloor
    const block = project.blocks[Math.floor(index / perBlock)]!
    const floor = Math.floor((index % perBlock) / project.perFloor) + 1
    const place = (index % project.perFloor) + 1
    const kind = project.kinds[(place - 1) % project.kinds.length]!
    const code = `${block}-${floor}${String(place).padStart(2, '0')}`
    const createdAt = new Date(Date.parse(property.created_at) + (index + 1) * 60_000)
    return Unit.complete(
      {
        property_id: property.id,
        name: `${property.name} ${code}`,
        unit_number: code,
        type: kind.type,
        status: statusOf(project, index, total),
        bedrooms: kind.bedrooms,
        bathrooms: kind.bathrooms,
        size: { interior: kind.interior, land: kind.land ?? null, unit: 'sqm' },
        price: { amount: priceOf(project, floor, place), currency: property.pricing!.currency },
        features: floor === project.floors ? ['top_floor'] : [],
        visibility: index % 11 === 5 ? 'private' : index % 3 === 0 ? 'public' : 'agents',
      },
      {
        id: newId('unit', createdAt),
        created_at: createdAt.toISOString(),
        updated_at: new Date(Math.min(createdAt.getTime() + index * dayMs, now.getTime())).toISOString(),
      },
      workspace,
    ).record
  })
}

const priceOf = (project: DemoProject, floor: number, place: number) =>
  project.basePrice +
  (floor - 1) * project.perFloorPrice +
  ((place - 1) % project.kinds.length) * Math.round(project.basePrice * 0.18)

// Spread over the building instead of bottom-up: 37 has no factor in common with any block's size.
function statusOf(project: DemoProject, index: number, total: number): Unit['status'] {
  const rank = ((index * 37) % total) * (100 / total)
  if (rank < project.sold) return 'sold'
  if (rank < project.sold + project.reserved) return 'reserved'
  return rank > 97 ? 'off_market' : 'available'
}
