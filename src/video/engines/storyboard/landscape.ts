import { buildRandom, pickBetween } from '../../../platform/random.ts';
import type { Random } from '../../../platform/random.ts';
import { mixColors } from './scenes.ts';
import type { LayerKind, ParticleKind, Scene } from './scenes.ts';

/** A generated drawing. It never contains a caller's text. */
export type Drawing = { svg: string; width: number; height: number };

const round = (value: number) => Math.round(value * 10) / 10;
const even = (value: number) => 2 * Math.round(value / 2);

/** One layer of a landscape, filled down to its lower edge. */
export function drawLayer(
  layer: { kind: LayerKind; color: string },
  size: { width: number; height: number },
  options: { seed: number; accent: string },
): Drawing {
  const width = even(size.width);
  const height = even(size.height);
  const shapes = SHAPES[layer.kind]({ width, height, random: buildRandom(options.seed), ...layer, ...options });
  const shade = mixColors(layer.color, '#000000', 0.35);
  const fill = `<linearGradient id="g" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${layer.color}"/><stop offset="1" stop-color="${shade}"/></linearGradient>`;
  return wrap(width, height, `<defs>${fill}</defs>${shapes}`);
}

type Sketch = { width: number; height: number; random: Random; color: string; accent: string };

const SHAPES: Record<LayerKind, (sketch: Sketch) => string> = {
  hills: (sketch) => fillBelow(sketch, drawRidge(sketch, { waves: 3, level: 0.35, height: 0.3 })),
  peaks: (sketch) => fillBelow(sketch, drawPeaks(sketch)),
  waves: drawWaves,
  trees: drawTrees,
  towers: drawTowers,
  flames: drawFlames,
  flowers: drawFlowers,
  orbs: drawOrbs,
};

type Point = [x: number, y: number];

function fillBelow({ width, height }: Sketch, points: Point[], fill = 'url(#g)'): string {
  const line = points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
  return `<polygon points="0,${height} ${line} ${width},${height}" fill="${fill}"/>`;
}

/** A soft line: the sum of a few sine waves. */
function drawRidge(
  { width, height, random }: Sketch,
  shape: { waves: number; level: number; height: number },
): Point[] {
  const sines = [1, 2.3, 5.1].map((pitch) => ({ pitch: pitch * shape.waves, phase: random() * 7, part: 1 / pitch }));
  return Array.from({ length: 121 }, (_, step): Point => {
    const at = step / 120;
    const sum = sines.reduce((total, { pitch, phase, part }) => total + Math.sin(at * pitch * 2 + phase) * part, 0);
    return [at * width, height * (shape.level - (sum / 1.7) * shape.height)];
  });
}

/** Midpoint displacement: halves lines and moves their middles, which looks like mountains. */
function drawPeaks({ width, height, random }: Sketch): Point[] {
  let line = Array.from({ length: 6 }, () => pickBetween(random, 0.1, 0.75));
  for (let rough = 0.22; line.length < 160; rough /= 2) {
    line = line.flatMap((value, index) => {
      const next = line[index + 1];
      return next === undefined ? [value] : [value, (value + next) / 2 + pickBetween(random, -rough, rough)];
    });
  }
  return line.map((value, index): Point => [(index / (line.length - 1)) * width, height * Math.max(0.02, value)]);
}

function drawWaves(sketch: Sketch): string {
  const { width, height, color, accent, random } = sketch;
  return [0, 1, 2]
    .map((row) => {
      const base = height * (0.12 + row * 0.26);
      const length = width / pickBetween(random, 5, 8);
      const deep = Math.min(height * 0.05, length * 0.09);
      const phase = random() * length;
      const points = Array.from({ length: 201 }, (_, step): Point => {
        const x = (step / 200) * width;
        const slope = ((x + phase) % length) / length;
        return [x, base - deep * (1 - Math.abs(2 * slope - 1)) ** 2 * 2];
      });
      const foam = points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
      const fill = mixColors(color, '#000000', row * 0.16);
      return `${fillBelow(sketch, points, fill)}<polyline points="${foam}" fill="none" stroke="${accent}" stroke-opacity="0.45" stroke-width="${round(height / 90)}"/>`;
    })
    .join('');
}

function drawTrees(sketch: Sketch): string {
  const { width, height, random } = sketch;
  const ground = drawRidge(sketch, { waves: 2, level: 0.72, height: 0.12 });
  const trees = Array.from({ length: Math.round((width / height) * 14) }, () => {
    const [x, y] = ground[Math.floor(random() * ground.length)] ?? [0, height];
    const [tall, wide] = [height * pickBetween(random, 0.28, 0.68), height * pickBetween(random, 0.05, 0.1)];
    return [0, 1, 2]
      .map((tier) => {
        const [top, foot] = [y - tall + tier * tall * 0.24, y - tall * 0.5 + tier * tall * 0.28];
        const half = wide * (0.55 + tier * 0.28);
        return `M${round(x)} ${round(top)}L${round(x + half)} ${round(foot)}L${round(x - half)} ${round(foot)}Z`;
      })
      .join('');
  });
  return `${fillBelow(sketch, ground)}<path d="${trees.join('')}" fill="url(#g)"/>`;
}

function drawTowers({ width, height, random, color, accent }: Sketch): string {
  const unit = height / 14;
  const parts: string[] = [];
  const lights: string[] = [];
  for (let x = 0; x < width;) {
    const wide = unit * pickBetween(random, 1.1, 2.6);
    const top = height * pickBetween(random, 0.05, 0.62);
    parts.push(`M${round(x)} ${height}V${round(top)}H${round(x + wide)}V${height}Z`);
    if (random() < 0.3)
      parts.push(`M${round(x + wide / 2)} ${round(top)}v${round(-unit * 0.6)}h2v${round(unit * 0.6)}Z`);
    for (let y = top + unit * 0.35; y < height; y += unit * 0.55) {
      for (let lamp = x + unit * 0.22; lamp < x + wide - unit * 0.3; lamp += unit * 0.42) {
        if (random() < 0.34)
          lights.push(`M${round(lamp)} ${round(y)}h${round(unit * 0.2)}v${round(unit * 0.26)}h${round(-unit * 0.2)}Z`);
      }
    }
    x += wide + (random() < 0.25 ? unit * 0.3 : 0);
  }
  const glow = mixColors(color, accent, 0.15);
  const half = Math.floor(lights.length / 3);
  return [
    `<path d="${parts.join('')}" fill="${glow}"/><path d="${parts.join('')}" fill="url(#g)" fill-opacity="0.85"/>`,
    `<path d="${lights.slice(half).join('')}" fill="#ffd58a" fill-opacity="0.85"/>`,
    `<path d="${lights.slice(0, half).join('')}" fill="${accent}" fill-opacity="0.8"/>`,
  ].join('');
}

function drawFlames({ width, height, random, color }: Sketch): string {
  const row = (fill: string, low: number, high: number) => {
    const tongues = Array.from({ length: Math.round((width / height) * 9) }, () => {
      const x = random() * width;
      const [tall, half] = [height * pickBetween(random, low, high), height * pickBetween(random, 0.08, 0.2)];
      const lean = half * pickBetween(random, -0.9, 0.9);
      const [left, right, tip] = [round(x - half), round(x + half), round(x + lean)];
      const top = round(height - tall);
      return `M${left} ${height}C${left} ${round(height - tall * 0.5)} ${tip} ${round(height - tall * 0.6)} ${tip} ${top}C${tip} ${round(height - tall * 0.55)} ${right} ${round(height - tall * 0.4)} ${right} ${height}Z`;
    });
    return `<path d="${tongues.join('')}" fill="${fill}" fill-opacity="0.9"/>`;
  };
  return [row(mixColors(color, '#7a0c0c', 0.6), 0.5, 0.98), row(color, 0.3, 0.75), row('#ffd75e', 0.12, 0.42)].join('');
}

function drawFlowers(sketch: Sketch): string {
  const { width, height, random, accent } = sketch;
  const ground = drawRidge(sketch, { waves: 2, level: 0.62, height: 0.1 });
  const heads = Array.from({ length: Math.round((width / height) * 16) }, () => {
    const [x, y] = ground[Math.floor(random() * ground.length)] ?? [0, height];
    const [tall, size] = [height * pickBetween(random, 0.15, 0.5), height * pickBetween(random, 0.035, 0.075)];
    const [cx, cy] = [x + pickBetween(random, -size, size), y - tall];
    const color = mixColors(accent, random() < 0.5 ? '#ffffff' : '#d61a6b', pickBetween(random, 0, 0.55));
    const petals = [0, 1, 2, 3, 4].map((leaf) => {
      const turn = (leaf / 5) * 2 * Math.PI + x;
      return `<circle cx="${round(cx + Math.cos(turn) * size * 0.75)}" cy="${round(cy + Math.sin(turn) * size * 0.75)}" r="${round(size * 0.62)}" fill="${color}"/>`;
    });
    const stalk = `<path d="M${round(x)} ${round(y + 4)}Q${round(x)} ${round(y - tall / 2)} ${round(cx)} ${round(cy)}" stroke="${sketch.color}" stroke-width="${round(size / 4)}" fill="none"/>`;
    return `${stalk}${petals.join('')}<circle cx="${round(cx)}" cy="${round(cy)}" r="${round(size * 0.42)}" fill="#ffe08a"/>`;
  });
  return `${heads.join('')}${fillBelow(sketch, ground)}`;
}

function drawOrbs({ width, height, random, color, accent }: Sketch): string {
  return Array.from({ length: 9 }, () => {
    const [x, y, r] = [
      random() * width,
      height * pickBetween(random, 0.2, 0.9),
      height * pickBetween(random, 0.12, 0.42),
    ];
    const fill = mixColors(color, accent, random());
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(r)}" fill="${fill}" fill-opacity="${round(pickBetween(random, 0.2, 0.6))}"/>`;
  }).join('');
}

/** Sun, moon or planet with its glow: a square of the given side. */
export function drawLight(light: NonNullable<Scene['light']>, side: number): Drawing {
  const size = even(side);
  const [middle, radius] = [size / 2, size * (light.kind === 'planet' ? 0.3 : 0.2)];
  const glow = `<radialGradient id="r"><stop offset="0.3" stop-color="${light.color}" stop-opacity="0.55"/><stop offset="1" stop-color="${light.color}" stop-opacity="0"/></radialGradient>`;
  const dark = mixColors(light.color, '#1a1030', 0.45);
  const face: Record<typeof light.kind, string> = {
    sun: '',
    moon: `<circle cx="${middle - radius * 0.3}" cy="${middle - radius * 0.2}" r="${radius * 0.22}" fill="#00000018"/><circle cx="${middle + radius * 0.35}" cy="${middle + radius * 0.3}" r="${radius * 0.3}" fill="#00000014"/>`,
    planet: `<ellipse cx="${middle}" cy="${middle}" rx="${radius * 1.6}" ry="${radius * 0.34}" fill="none" stroke="${dark}" stroke-width="${radius * 0.16}" transform="rotate(-18 ${middle} ${middle})"/>`,
  };
  return wrap(
    size,
    size,
    `<defs>${glow}</defs><circle cx="${middle}" cy="${middle}" r="${middle}" fill="url(#r)"/><circle cx="${middle}" cy="${middle}" r="${radius}" fill="${light.color}"/>${face[light.kind]}`,
  );
}

/** Particles in the air. Drawn twice, one copy above the other, so that they can scroll endlessly. */
export function drawParticles(
  kind: ParticleKind,
  size: { width: number; height: number },
  options: { seed: number; accent: string },
): Drawing {
  const random = buildRandom(options.seed);
  const { width, height } = size;
  const unit = Math.min(width, height) / 180;
  const counts: Record<ParticleKind, number> = {
    stars: 130,
    snow: 150,
    embers: 90,
    rain: 130,
    petals: 46,
    bubbles: 40,
    dust: 60,
  };
  const one = (): string => {
    const [x, y] = [round(random() * width), round(random() * height)];
    const r = round(unit * pickBetween(random, 0.4, 1.5));
    const faint = round(pickBetween(random, 0.25, 0.9));
    if (kind === 'rain')
      return `<path d="M${x} ${y}l${round(-unit * 2)} ${round(unit * 14)}" stroke="#dcecff" stroke-opacity="${round(faint * 0.6)}" stroke-width="${round(unit * 0.4)}"/>`;
    if (kind === 'petals')
      return `<ellipse cx="${x}" cy="${y}" rx="${round(r * 2.4)}" ry="${round(r * 1.3)}" fill="${mixColors(options.accent, '#ffffff', random() * 0.6)}" fill-opacity="${faint}" transform="rotate(${round(random() * 180)} ${x} ${y})"/>`;
    if (kind === 'bubbles')
      return `<circle cx="${x}" cy="${y}" r="${round(r * 2)}" fill="#ffffff" fill-opacity="0.12" stroke="#ffffff" stroke-opacity="${round(faint * 0.6)}" stroke-width="${round(unit * 0.3)}"/>`;
    const fill = { stars: '#ffffff', snow: '#ffffff', embers: options.accent, dust: '#fff6d8' }[kind];
    const scale = { stars: 0.6, snow: 1.5, embers: 0.9, dust: 0.8 }[kind];
    return `<circle cx="${x}" cy="${y}" r="${round(r * scale)}" fill="${fill}" fill-opacity="${kind === 'dust' ? round(faint * 0.5) : faint}"/>`;
  };
  const all = Array.from({ length: counts[kind] }, one).join('');
  return wrap(width, height * 2, `${all}<g transform="translate(0 ${height})">${all}</g>`);
}

function wrap(width: number, height: number, body: string): Drawing {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${body}</svg>`;
  return { svg, width, height };
}
