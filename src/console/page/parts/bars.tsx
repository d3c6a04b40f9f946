import { useEffect, useRef, useState } from 'react';
import { formatDay } from '../text/format.ts';

type Bar = { label: string; parts: readonly { series: number; value: number }[] };
type Props = { bars: readonly Bar[]; title: string; format: (value: number) => string };

const WIDTH = 960;
/** What a label below the bars takes. */
const LABEL = 72;
const HEIGHT = 180;
const BASE = 158;
const LEFT = 52;
const TOP = 8;

function sum({ parts }: Bar): number {
  return parts.reduce((all, part) => all + part.value, 0);
}

function Column({ bar, x, width, scale }: { bar: Bar; x: number; width: number; scale: number }) {
  let y = BASE;
  return bar.parts.map(({ series, value }, index) => {
    const height = value * scale;
    y -= height;
    return <rect key={index} className={`series-${series}`} x={x} y={y} width={width} height={height} />;
  });
}

/** The width of the chart on screen: texts keep their size at every width. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(WIDTH);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(LEFT * 2, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

/** Stacked bars, one per day. The table below shows the same numbers. */
export function Bars({ bars, title, format }: Props) {
  const { box, width } = useWidth();
  const max = Math.max(...bars.map(sum), 0);
  const scale = max === 0 ? 0 : (BASE - TOP) / max;
  const step = (width - LEFT) / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(LABEL / step));
  return (
    <div ref={box}>
      <svg className="chart" viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={title}>
        {max === 0 ? null : (
          <>
            <text className="chart-label" x="0" y={TOP + 8}>
              {format(max)}
            </text>
            <line className="chart-axis" x1={LEFT} x2={width} y1={TOP} y2={TOP} />
          </>
        )}
        <line className="chart-axis" x1={LEFT} x2={width} y1={BASE} y2={BASE} />
        {bars.map((bar, index) => (
          <g key={bar.label}>
            <title>{`${formatDay(bar.label)}: ${format(sum(bar))}`}</title>
            <Column bar={bar} x={LEFT + index * step + 1} width={Math.max(1, step - 2)} scale={scale} />
            {index % every === 0 ? (
              <text className="chart-label" x={LEFT + index * step} y={HEIGHT - 6}>
                {formatDay(bar.label)}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
    </div>
  );
}
