// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Two things that a browser does not do by itself. While bankd does not answer, a link is followed and a form is
// sent as soon as it does, in place of an error page without the entries; meanwhile the page names the other nodes of a
// cluster. And a form that is opened again with the
// back button has its entries again: the pages are stored nowhere.
(() => {
  'use strict';
  const probe = document.querySelector('link[rel=icon]').href;
  let waits = false;
  let passes = null;

  const answers = () =>
    fetch(probe, { method: 'HEAD', cache: 'no-store' }).then(answer => answer.status < 502, () => false);

  function message() {
    const box = document.querySelector('template').content.firstElementChild.cloneNode(true);
    document.querySelector('main').prepend(box);
    return box;
  }

  async function when(go) {
    if (waits) return;
    waits = true;
    let shown = null;
    while (!(await answers())) {
      shown ??= message();
      await new Promise(next => setTimeout(next, 1000));
    }
    shown?.remove();
    waits = false;
    go();
  }

  // What a person entered; tokens and keys are new with each page.
  const entries = form => [...form.elements].filter(field => field.name && !/hidden|submit/.test(field.type));
  const place = form => [...document.forms].indexOf(form);

  const kept = history.state;
  if (Array.isArray(kept) && document.forms[kept[0]]) {
    entries(document.forms[kept[0]]).forEach((field, at) => {
      if (kept[at + 1] !== undefined) field.value = kept[at + 1];
    });
  }

  addEventListener('click', event => {
    const link = event.target.closest('a[href]');
    const isOther = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || isOther || event.defaultPrevented || link.target || link.origin !== location.origin) return;
    if (link.getAttribute('href').startsWith('#')) return;
    event.preventDefault();
    when(() => location.assign(link.href));
  });

  addEventListener('submit', event => {
    const form = event.target;
    if (passes === form) {
      passes = null;
      return;
    }
    event.preventDefault();
    when(() => {
      history.replaceState([place(form), ...entries(form).map(field => field.value)], '');
      passes = form;
      form.requestSubmit(event.submitter);
    });
  });
})();
