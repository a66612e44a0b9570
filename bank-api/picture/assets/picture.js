// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Adds comfort to the drawings of bank-picture: the amounts under the pointer or the keyboard's cursor, series
// that are switched on and off in the legend, and a period that is selected on the time axis. Each drawing is
// complete without it. It reads attributes of the drawing only, requests nothing, and writes no styles, so a
// policy of `script-src 'self'; style-src 'self'` is enough.
(() => {
  'use strict';

  const SVG = 'http://www.w3.org/2000/svg';
  const PAD = 6;
  const LINE = 15;
  // Amounts that a tip has at most: the largest ones.
  const MOST = 6;

  function make(name, attributes, parent) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  }

  // Amounts are exact decimals and stay text: a float would change their last digits.
  function shown(raw, unit) {
    const [whole, fraction] = raw.replace('-', '').split('.');
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
    const sign = raw.startsWith('-') ? '\u2212' : '';
    return `${sign}${grouped}${fraction ? `.${fraction}` : ''} ${unit}`.trim();
  }

  function list(element, name, separator) {
    const text = element.getAttribute(`data-${name}`);
    return text ? text.split(separator) : [];
  }

  function series(element, number) {
    return element.querySelector(`g.series[data-series="${CSS.escape(number)}"]`);
  }

  // The name of a series; of a row beside others of its name, that of its series too.
  function named(group) {
    const series = group.parentNode.closest('g.series');
    const names = [group, series].map(own => own && own.getAttribute('data-name'));
    return names.filter(Boolean).join(', ');
  }

  // A time span or an instant of the drawing, or one row of it. `parts` are the amounts of its series.
  function item(from, to, head, parts, box) {
    return { x: (from + to) / 2, from, to, head, parts, box };
  }

  function spansOf(svg, groups) {
    const edges = list(svg, 'x', ' ').map(Number);
    const times = list(svg, 'at', '|');
    return edges.slice(1).map((to, at) => {
      const parts = groups.map(group => ({ group, raw: list(group, 'values', ' ')[at] }));
      return item(edges[at], to, times[at], parts.filter(part => part.raw !== '-'));
    });
  }

  function instantsOf(groups) {
    const found = new Map();
    for (const group of groups) {
      const times = list(group, 'at', '|');
      const values = list(group, 'values', ' ');
      list(group, 'x', ' ').forEach((x, at) => {
        const key = `${x} ${times[at]}`;
        if (!found.has(key)) found.set(key, item(Number(x), Number(x), times[at], []));
        found.get(key).parts.push({ group, raw: values[at] });
      });
    }
    return [...found.values()].sort((a, b) => a.x - b.x);
  }

  function rowsOf(groups) {
    return groups.map(group => {
      const box = group.getBBox();
      const parts = [{ group, raw: group.getAttribute('data-values') }];
      return item(box.x, box.x + box.width, '', parts, box);
    });
  }

  const all = [];

  class Drawing {
    constructor(svg) {
      this.svg = svg;
      this.figure = svg.closest('figure') || svg.parentNode;
      this.unit = svg.getAttribute('data-unit') || '';
      this.groups = [...svg.querySelectorAll('[data-values]')];
      const hasInstants = this.groups.some(group => group.hasAttribute('data-x'));
      this.isTimed = svg.hasAttribute('data-x');
      this.hasInstants = hasInstants;
      this.at = -1;
      this.mark = -1;
      this.zoom = list(svg, 'zoom', ' ');
      if (!this.groups.length) return;
      this.legend();
      this.listen();
    }

    // Made when it is needed: a drawing that the page does not show at this width has no places.
    items() {
      if (!this.known) {
        if (this.hasInstants) this.known = instantsOf(this.groups);
        else if (this.isTimed) this.known = spansOf(this.svg, this.groups);
        else this.known = rowsOf(this.groups);
      }
      return this.known;
    }

    edges() {
      return list(this.svg, 'x', ' ').map(Number);
    }

    legend() {
      for (const key of this.svg.querySelectorAll('g.key')) {
        const number = key.getAttribute('data-series');
        const group = series(this.svg, number);
        if (!group) continue;
        key.setAttribute('role', 'button');
        key.setAttribute('tabindex', '0');
        key.setAttribute('aria-pressed', 'true');
        // The name that is seen, for those who speak it; a name that is cut has the whole as description.
        const label = key.querySelector('text').firstChild.nodeValue;
        const name = group.getAttribute('data-name');
        key.setAttribute('aria-label', label);
        if (!label.includes(name)) key.setAttribute('aria-description', name);
        key.addEventListener('click', () => this.toggle(number));
        key.addEventListener('pointerenter', () => this.hit(key));
        key.addEventListener('keydown', event => {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          event.stopPropagation();
          this.toggle(number);
        });
      }
    }

    // The room around sign and name, so that a finger finds the entry.
    hit(key) {
      if (key.querySelector('.hit')) return;
      const box = key.getBBox();
      const middle = box.y + box.height / 2;
      make('rect', { class: 'hit', x: box.x, y: middle - 12, width: box.width, height: 24 }, key);
    }

    // Both widths of a drawing show the same series.
    toggle(number) {
      const is = name => `g.${name}[data-series="${CSS.escape(number)}"]`;
      const off = !this.figure.querySelector(is('series')).classList.contains('off');
      for (const group of this.figure.querySelectorAll(is('series'))) group.classList.toggle('off', off);
      for (const key of this.figure.querySelectorAll(is('key'))) key.setAttribute('aria-pressed', String(!off));
      all.forEach(drawing => drawing.figure === this.figure && drawing.stack());
      this.clear();
    }

    // What is above a series that is switched off comes down: in a stack nothing floats.
    stack() {
      if (!this.isTimed || this.hasInstants) return;
      const gone = new Map();
      for (const group of this.groups) {
        const values = list(group, 'values', ' ');
        const off = group.closest('.off');
        // How far a part moves, by its place and its side of the zero; of one that is off, its size is added.
        const moved = (place, size, isBelow) => {
          const key = `${place}${isBelow}`;
          const by = gone.get(key) || 0;
          if (off) gone.set(key, by + size);
          return isBelow ? -by : by;
        };
        const outlines = [];
        for (const bar of group.querySelectorAll('rect.f')) {
          const [x, y, width, height] = ['x', 'y', 'width', 'height'].map(name => +bar.getAttribute(name));
          bar.first ??= y;
          const at = this.span(x + width / 2);
          const top = bar.first + moved(at, height, values[at] < 0);
          bar.setAttribute('y', top);
          outlines.push(`M${x} ${top}h${width}v${height}h${-width}Z`);
        }
        const area = group.querySelector('path.f');
        if (area) outlines.push(this.lower(area, group.querySelector('.edge'), moved));
        const hatch = group.querySelector('.hatch');
        const clip = hatch && this.svg.querySelector(`${hatch.getAttribute('clip-path').slice(4, -1)} path`);
        if (clip) clip.setAttribute('d', outlines.join(''));
      }
    }

    // An area has its upper points from left to right, then the lower ones back.
    lower(area, edge, moved) {
      area.first ??= area.getAttribute('d').match(/-?[\d.]+ -?[\d.]+/g).map(point => point.split(' ').map(Number));
      const count = area.first.length / 2;
      const by = area.first.slice(0, count).map(([, y], at) =>
        moved(at, area.first[area.first.length - 1 - at][1] - y, false));
      const points = area.first.map(([x, y], at) => `${x} ${y + by[at < count ? at : 2 * count - 1 - at]}`);
      if (edge) edge.setAttribute('d', `M${points.slice(0, count).join('L')}`);
      const outline = `M${points.join('L')}Z`;
      area.setAttribute('d', outline);
      return outline;
    }

    listen() {
      const svg = this.svg;
      // An image has no parts that can be reached; from here on it has.
      svg.setAttribute('role', 'group');
      svg.setAttribute('tabindex', '0');
      if (this.zoom.length) svg.classList.add('zooms');
      svg.addEventListener('pointermove', event => this.moved(event));
      svg.addEventListener('pointerleave', () => this.mark < 0 && this.clear());
      svg.addEventListener('pointerdown', event => this.pressed(event));
      svg.addEventListener('pointerup', event => this.released(event));
      svg.addEventListener('pointercancel', () => this.clear());
      svg.addEventListener('dragstart', event => event.preventDefault());
      svg.addEventListener('click', event => {
        if (this.dragged) event.preventDefault();
        this.dragged = false;
      }, true);
      svg.addEventListener('blur', () => this.clear());
      svg.addEventListener('keydown', event => this.keyed(event));
    }

    place(event) {
      const point = new DOMPoint(event.clientX, event.clientY);
      return point.matrixTransform(this.svg.getScreenCTM().inverse());
    }

    nearest(point) {
      const items = this.items();
      if (!this.isTimed) {
        return items.findIndex(({ box }) => point.y >= box.y && point.y <= box.y + box.height &&
          point.x >= box.x && point.x <= box.x + Math.max(box.width, this.svg.viewBox.baseVal.width));
      }
      const edges = this.edges();
      const [top, height] = list(this.svg, 'plot', ' ').map(Number);
      if (point.y < top || point.y > top + height) return -1;
      if (point.x < edges[0] - PAD || point.x > edges[edges.length - 1] + PAD) return -1;
      if (!this.hasInstants) return this.span(point.x);
      let best = 0;
      items.forEach((one, at) => {
        if (Math.abs(one.x - point.x) < Math.abs(items[best].x - point.x)) best = at;
      });
      return best;
    }

    span(x) {
      const edges = this.edges();
      const before = edges.filter(edge => edge <= x).length;
      return Math.max(0, Math.min(before, edges.length - 1) - 1);
    }

    moved(event) {
      const point = this.place(event);
      if (this.mark >= 0) {
        if (!this.dragged && Math.abs(event.clientX - this.start) > 4) {
          this.dragged = true;
          this.hide();
          this.svg.setPointerCapture(event.pointerId);
        }
        if (this.dragged) this.brush(this.mark, this.span(point.x));
        return;
      }
      // A slice of a pie covers no rectangle: the element under the pointer is the row.
      const own = event.target.closest('[data-values]');
      const inside = this.isTimed ? this.nearest(point) : this.groups.indexOf(own);
      this.show(inside, point);
    }

    pressed(event) {
      this.dragged = false;
      this.moved(event);
      if (!this.zoom.length || event.button !== 0 || event.pointerType === 'touch') return;
      const point = this.place(event);
      if (this.nearest(point) < 0) return;
      this.mark = this.span(point.x);
      this.start = event.clientX;
    }

    released(event) {
      const mark = this.mark;
      this.mark = -1;
      if (mark < 0 || !this.dragged) return this.unbrush();
      this.go(mark, this.span(this.place(event).x));
    }

    // The page shows its period, so a part of it is another address: it can be sent, and Back undoes it.
    go(one, other) {
      const times = list(this.svg, 'times', ' ');
      const address = new URL(location.href);
      address.searchParams.set(this.zoom[0], times[Math.min(one, other)]);
      address.searchParams.set(this.zoom[1], times[Math.max(one, other) + 1]);
      location.assign(address);
    }

    brush(one, other) {
      this.unbrush();
      const edges = this.edges();
      const [top, height] = list(this.svg, 'plot', ' ').map(Number);
      const x = edges[Math.min(one, other)];
      const width = edges[Math.max(one, other) + 1] - x;
      this.field = make('rect', { class: 'brush', x, y: top, width, height }, this.svg);
      const times = list(this.svg, 'at', '|');
      this.speak(`${times[Math.min(one, other)]} to ${times[Math.max(one, other) + 1]}`);
    }

    unbrush() {
      if (this.field) this.field.remove();
      this.field = null;
    }

    keyed(event) {
      const items = this.items();
      const last = items.length - 1;
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -items.length, End: items.length };
      if (event.key === 'Escape') {
        this.clear();
      } else if (event.key === 'Enter' && this.at >= 0) {
        this.enter(items[this.at]);
      } else if (event.key in steps && event.target === this.svg) {
        event.preventDefault();
        const before = this.at;
        this.show(Math.max(0, Math.min(last, Math.max(-1, this.at) + steps[event.key])));
        this.select(event.shiftKey, before);
      }
    }

    // Shift with an arrow selects spans, as it selects text.
    select(isShift, before) {
      if (!isShift || !this.zoom.length || before < 0) {
        this.first = -1;
        this.unbrush();
        return;
      }
      const items = this.items();
      if (!(this.first >= 0)) this.first = this.span(items[before].x);
      this.brush(this.first, this.span(items[this.at].x));
    }

    enter(one) {
      const link = !this.isTimed && one.parts[0].group.querySelector('a');
      if (link) location.assign(link.getAttribute('href'));
      else if (this.zoom.length) {
        const to = this.span(one.x);
        this.go(this.first >= 0 ? this.first : to, to);
      }
    }

    show(at, pointer) {
      if (at === this.at) return;
      this.hide();
      this.at = at;
      const one = this.items()[at];
      if (!one) return;
      const parts = one.parts.filter(({ group }) => !group.closest('.off'));
      const line = ({ group, raw }) => `${named(group)}: ${shown(raw, this.unit)}`;
      const head = one.head ? [one.head] : [];
      this.speak([...head, ...parts.map(line)].join(', '));
      const size = ({ raw }) => Math.abs(raw);
      const large = [...parts].sort((a, b) => size(b) - size(a)).slice(0, MOST);
      const lines = parts.filter(part => large.includes(part)).map(line);
      if (parts.length > MOST) lines.push(`and ${parts.length - MOST} more`);
      this.tip(one, [...head, ...lines], pointer);
    }

    // Beside the span, at the height of the pointer, so that it covers nothing of what it is about.
    tip(one, lines, pointer) {
      const room = this.svg.viewBox.baseVal;
      this.shown = make('g', { class: 'tip', 'aria-hidden': 'true' }, this.svg);
      let top = PAD;
      if (this.isTimed) {
        const [start, height] = list(this.svg, 'plot', ' ').map(Number);
        make('path', { class: 'cursor', d: `M${one.x} ${start}V${start + height}` }, this.shown);
        top = pointer ? pointer.y - LINE : start + PAD;
      } else {
        top = one.box.y + one.box.height;
      }
      let { from, to } = one;
      // Beside a wide span there is no room.
      if (Math.max(from, room.width - to) < 160) from = to = pointer ? pointer.x : one.x;
      const right = room.width - to - 2 * PAD;
      const most = (this.isTimed ? Math.max(from - 2 * PAD, right) : room.width) - 2 * PAD;
      const texts = lines.map(line => {
        const text = make('text', {}, this.shown);
        text.textContent = line;
        while (text.getComputedTextLength() > most) {
          line = line.slice(0, -1);
          text.textContent = `${line}\u2026`;
        }
        return text;
      });
      const width = Math.max(...texts.map(text => text.getComputedTextLength())) + 2 * PAD;
      const height = lines.length * LINE + PAD;
      let x = width <= right ? to + PAD : from - PAD - width;
      if (!this.isTimed) x = Math.min(one.x + 2 * PAD, room.width - width - 1);
      x = Math.max(1, x);
      const y = Math.max(1, Math.min(top, room.height - height - 1));
      this.shown.prepend(make('rect', { rx: 3, x, y, width, height }, this.shown));
      texts.forEach((text, at) => {
        text.setAttribute('x', x + PAD);
        text.setAttribute('y', y + (at + 1) * LINE - 2);
      });
    }

    // A screen reader hears what is shown.
    speak(text) {
      if (!this.spoken) {
        this.spoken = document.createElement('p');
        this.spoken.className = 'spoken';
        this.spoken.setAttribute('aria-live', 'polite');
        this.figure.append(this.spoken);
      }
      this.spoken.textContent = text;
    }

    hide() {
      if (this.shown) this.shown.remove();
      this.shown = null;
      this.at = -1;
    }

    clear() {
      this.hide();
      this.unbrush();
      this.mark = -1;
      this.first = -1;
    }
  }

  for (const svg of document.querySelectorAll('svg.chart')) all.push(new Drawing(svg));
})();
