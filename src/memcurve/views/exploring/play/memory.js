// Memory of a linear network from its eigenvalues, in plain JavaScript; no page, no drawing.
// An eigenvalue is [re, im]. Pairs are listed once, by the one above the real axis.
"use strict";

const memory = (() => {
  // One section of the all-pass lattice per eigenvalue or pair: reflection coefficients k of
  // 1 + a₁z + a₂z² (k₂ = a₂, k₁ = a₁/(1 + a₂)) or of 1 − λz (k = −λ), and c = √(1 − k²).
  // 1 − k₂² and 1 − k₁² are products of small distances to the circle, formed without cancellation.
  function section([re, im]) {
    if (im === 0) return { re, im, order: 1, s: -re, c: Math.sqrt((1 - re) * (1 + re)) };
    const square = re * re + im * im;
    const inside = (1 - Math.hypot(re, im)) * (1 + Math.hypot(re, im)); // 1 − |λ|²
    const s1 = (-2 * re) / (1 + square);
    const c1 = Math.sqrt(inside * inside + 4 * im * im) / (1 + square); // (1+|λ|²)² − 4re² in full
    return { re, im, order: 2, s1, c1, s2: square, c2: Math.sqrt(inside * (1 + square)) };
  }

  const size = (poles) => poles.reduce((n, [, im]) => n + (im === 0 ? 1 : 2), 0);

  // States of the input-normal realization after an impulse, lag by lag: row τ is A'^τC'.
  function responses(poles, lags) {
    const sections = poles.map(section);
    const n = size(poles);
    const x = new Float64Array(n);
    const rows = new Float64Array(lags * n);
    for (let t = 0; t < lags; t++) {
      let u = t === 0 ? 1 : 0;
      let k = 0;
      for (const one of sections) {
        if (one.order === 1) {
          const next = one.c * u - one.s * x[k];
          u = one.s * u + one.c * x[k];
          x[k] = next;
          k += 1;
        } else {
          const f1 = one.c2 * u - one.s2 * x[k + 1];
          u = one.s2 * u + one.c2 * x[k + 1];
          const f0 = one.c1 * f1 - one.s1 * x[k];
          x[k + 1] = one.s1 * f1 + one.c1 * x[k];
          x[k] = f0;
          k += 2;
        }
      }
      rows.set(x, t * n);
    }
    return rows;
  }

  // MC_τ = ‖A'^τC'‖², the energy of the all-pass filter beyond lag τ.
  function curve(poles, lags) {
    const n = size(poles);
    const rows = responses(poles, lags);
    return Float64Array.from({ length: lags }, (_, t) => {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += rows[t * n + k] ** 2;
      return sum;
    });
  }

  // Σ τ·MC_τ / n = (n − 1)/2 + Σ_kl λ_k λ̄_l/(1 − λ_k λ̄_l)/n over all eigenvalues.
  function meanAge(poles) {
    const all = poles.flatMap(([re, im]) => (im === 0 ? [[re, 0]] : [[re, im], [re, -im]]));
    let sum = 0;
    for (const [a, b] of all) {
      for (const [c, d] of all) {
        const re = a * c + b * d, im = b * c - a * d;
        const below = (1 - re) ** 2 + im * im;
        sum += (re * (1 - re) - im * im) / below; // the imaginary parts cancel
      }
    }
    return (all.length - 1) / 2 + sum / all.length;
  }

  // A diagonal layer: one state per real eigenvalue, real and imaginary part per pair, all driven
  // alike, states of mean variance one. Its states are T·ξ in the input-normal coordinates ξ:
  // row λ of T is Σ_t λ^t ξ(t), which passes through the sections in closed form.
  function transformation(poles) {
    const sections = poles.map(section);
    const n = size(poles);
    const power = poles.reduce((sum, [re, im]) => sum + 1 / (1 - re * re - im * im), 0);
    const drive = Math.sqrt(n / power);
    const T = [];
    for (const [re, im] of poles) {
      const rowRe = new Float64Array(n), rowIm = new Float64Array(n);
      let ur = drive, ui = 0;
      let k = 0;
      for (const one of sections) {
        if (one.order === 1) {
          const [xr, xi] = divide(one.c * ur, one.c * ui, 1 + one.s * re, one.s * im);
          [rowRe[k], rowIm[k]] = [xr, xi];
          [ur, ui] = through(ur, ui, re, im, one);
          k += 1;
        } else {
          // f₁ = c₂u(1 + s₁z)/(1 + a₁z + a₂z²), x₁ = c₁f₁/(1 + s₁z), x₂ = f₁(s₁ + z)/(1 + s₁z)
          const [zr, zi] = [re * re - im * im, 2 * re * im];
          const a1 = one.s1 * (1 + one.s2);
          const [gr, gi] = divide(one.c2 * ur, one.c2 * ui, 1 + a1 * re + one.s2 * zr, a1 * im + one.s2 * zi);
          [rowRe[k], rowIm[k]] = [one.c1 * gr, one.c1 * gi];
          [rowRe[k + 1], rowIm[k + 1]] = times(gr, gi, one.s1 + re, im);
          [ur, ui] = through(ur, ui, re, im, one);
          k += 2;
        }
      }
      T.push(rowRe);
      if (im !== 0) T.push(rowIm);
    }
    return T;
  }

  const times = (a, b, c, d) => [a * c - b * d, a * d + b * c];

  function divide(a, b, c, d) {
    const below = c * c + d * d;
    return [(a * c + b * d) / below, (b * c - a * d) / below];
  }

  // u·(z − λ)/(1 − λz), with the conjugate for pairs: exactly zero at its own eigenvalue.
  function through(ur, ui, zr, zi, { re, im, order }) {
    for (const side of order === 1 ? [0] : [im, -im]) {
      [ur, ui] = times(ur, ui, zr - re, zi - side);
      [ur, ui] = divide(ur, ui, 1 - (re * zr - side * zi), -(re * zi + side * zr));
    }
    return [ur, ui];
  }

  // Singular values and right singular vectors by one-sided Jacobi rotations of the columns.
  function singular(T) {
    const n = T.length;
    const columns = Array.from({ length: n }, (_, j) => Float64Array.from(T, (row) => row[j]));
    const V = Array.from({ length: n }, (_, j) => Float64Array.from({ length: n }, (_, i) => Number(i === j)));
    const dot = (x, y) => {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += x[i] * y[i];
      return sum;
    };
    for (let sweep = 0; sweep < 60; sweep++) {
      let largest = 0;
      for (let p = 0; p < n - 1; p++) {
        for (let q = p + 1; q < n; q++) {
          const [x, y] = [columns[p], columns[q]];
          const alpha = dot(x, x), beta = dot(y, y), gamma = dot(x, y);
          if (alpha * beta === 0 || gamma === 0) continue;
          const cosine = Math.abs(gamma) / Math.sqrt(alpha * beta);
          if (cosine < 1e-15) continue;
          largest = Math.max(largest, cosine);
          const zeta = (beta - alpha) / (2 * gamma);
          const t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
          const c = 1 / Math.hypot(1, t), s = c * t;
          for (const [one, other] of [[x, y], [V[p], V[q]]]) {
            for (let i = 0; i < n; i++) {
              const a = one[i], b = other[i];
              one[i] = c * a - s * b;
              other[i] = s * a + c * b;
            }
          }
        }
      }
      if (largest < 1e-14) break;
    }
    return { sigma: columns.map((column) => Math.sqrt(dot(column, column))), V };
  }

  // Usable memory of the diagonal layer: Σσ²/(σ² + s²) in total, at each noise level s.
  const usable = (system, levels) =>
    levels.map((s) => system.sigma.reduce((sum, x) => sum + (x * x) / (x * x + s * s), 0));

  // The same lag by lag: Σ_i σ_i²/(σ_i² + s²)·(v_iᵀξ(τ))².
  function usableCurve(poles, system, noise, lags) {
    const n = size(poles);
    const rows = responses(poles, lags);
    const factors = system.sigma.map((x) => (x * x) / (x * x + noise * noise));
    return Float64Array.from({ length: lags }, (_, t) => {
      let sum = 0;
      for (let i = 0; i < n; i++) {
        let part = 0;
        for (let k = 0; k < n; k++) part += system.V[i][k] * rows[t * n + k];
        sum += factors[i] * part * part;
      }
      return sum;
    });
  }

  // ---- from a wanted curve to eigenvalues

  // Eigenvalues at the quantiles of the group delay that the wanted curve asks for.
  function placed(wanted, n) {
    const grid = 2000;
    const delays = [];
    for (let i = 0; i < grid; i++) {
      const share = (i + 0.5) / grid;
      let lag = wanted.findIndex((value) => value < share);
      if (lag < 0) lag = wanted.length;
      const before = lag === 0 ? 1 : wanted[lag - 1];
      const after = lag === wanted.length ? 0 : wanted[lag];
      delays.push(Math.max(0.02, lag + (before - share) / Math.max(1e-12, before - after)));
    }
    const total = delays.reduce((sum, g) => sum + g, 0);
    const pairs = Math.floor(n / 2);
    const poles = [];
    let sum = 0, next = 0;
    for (let i = 0; i < grid && next < pairs; i++) {
      sum += delays[i];
      while (next < pairs && sum >= ((next + 0.5) / pairs) * total) {
        const r = Math.min(0.999, Math.max(0.02, Math.exp((-Math.PI * 1) / Math.max(0.3, delays[i]))));
        const angle = (Math.PI * (i + 0.5)) / grid;
        poles.push([r * Math.cos(angle), r * Math.sin(angle)]);
        next += 1;
      }
    }
    if (n % 2) poles.push([0.1, 0]);
    return poles;
  }

  // Parameters without bounds: k = tanh x for each reflection coefficient, pairs first. A pair may
  // become two real eigenvalues and back.
  function parameters(poles) {
    const list = [];
    for (const [re, im] of poles) {
      if (im === 0) list.push(Math.atanh(-re));
      else list.push(Math.atanh((-2 * re) / (1 + re * re + im * im)), Math.atanh(re * re + im * im));
    }
    return list;
  }

  function polesOf(x, pairs) {
    const poles = [];
    for (let k = 0; k < pairs; k++) {
      const k2 = Math.tanh(x[2 * k + 1]);
      const half = (-Math.tanh(x[2 * k]) * (1 + k2)) / 2;
      const root = half * half - k2;
      if (root < 0) poles.push([half, Math.sqrt(-root)]);
      else {
        const far = half + Math.sign(half || 1) * Math.sqrt(root);
        poles.push([far, 0], [far === 0 ? 0 : k2 / far, 0]);
      }
    }
    for (let k = 2 * pairs; k < x.length; k++) poles.push([-Math.tanh(x[k]), 0]);
    return poles;
  }

  // Levenberg–Marquardt on the distance of the curves; derivatives by differences.
  function fitted(wanted, n, { steps = 40, start = null } = {}) {
    const pairs = Math.floor(n / 2), lags = wanted.length;
    let x = parameters(start ?? placed(wanted, n));
    if (x.length !== n) x = parameters(placed(wanted, n));
    const residual = (at) => curve(polesOf(at, pairs), lags).map((value, t) => value - wanted[t]);
    const cost = (r) => r.reduce((sum, v) => sum + v * v, 0);
    let r = residual(x), now = cost(r), damping = 1e-3;
    for (let step = 0; step < steps && now > 1e-14; step++) {
      const J = x.map((_, i) => {
        const moved = x.slice();
        const h = 1e-6 * Math.max(1, Math.abs(x[i]));
        moved[i] += h;
        return residual(moved).map((value, t) => (value - r[t]) / h);
      });
      const H = J.map((a) => J.map((b) => a.reduce((sum, v, t) => sum + v * b[t], 0)));
      const gradient = J.map((a) => a.reduce((sum, v, t) => sum + v * r[t], 0));
      let better = false;
      for (let tries = 0; tries < 8 && !better; tries++) {
        const move = solved(H, gradient, damping);
        const there = x.map((v, i) => v - Math.max(-1, Math.min(1, move[i])));
        const far = there.some((v) => Math.abs(v) > 6);
        const new_r = far ? null : residual(there);
        if (new_r && cost(new_r) < now) {
          better = true;
          damping = Math.max(1e-12, damping / 5);
          const gain = 1 - cost(new_r) / now;
          [x, r, now] = [there, new_r, cost(new_r)];
          if (gain < 1e-4) return polesOf(x, pairs);
        } else damping *= 4;
      }
      if (!better) break;
    }
    return polesOf(x, pairs);
  }

  // (H + damping·diag H)·move = gradient, by Cholesky.
  function solved(H, gradient, damping) {
    const n = H.length;
    const L = H.map((row, i) => row.map((v, j) => (i === j ? v * (1 + damping) + 1e-14 : v)));
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < j; k++) for (let i = j; i < n; i++) L[i][j] -= L[i][k] * L[j][k];
      const pivot = Math.sqrt(Math.max(L[j][j], 1e-300));
      for (let i = j; i < n; i++) L[i][j] /= pivot;
    }
    const y = gradient.slice();
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < i; k++) y[i] -= L[i][k] * y[k];
      y[i] /= L[i][i];
    }
    for (let i = n - 1; i >= 0; i--) {
      for (let k = i + 1; k < n; k++) y[i] -= L[k][i] * y[k];
      y[i] /= L[i][i];
    }
    return y;
  }

  const layer = (poles) => singular(transformation(poles));

  return { size, curve, meanAge, layer, usable, usableCurve, fitted };
})();
